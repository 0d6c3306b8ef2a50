import {
  type PassResult,
  type Report,
  type Status,
  type Summary,
  type TemplateResult,
  worstOf,
} from '../result.ts';

/**
 * One report over the latest passes of all clients. Run, trigger and time are those of the newest pass. `settingsProblems`: of
 * clients that are left out.
 */
export const assembleReport = (
  passes: readonly PassResult[],
  settingsProblems: Report['problems'] = [],
): Report => {
  const templates = passes.flatMap((pass) => pass.templates);
  const problems = [...settingsProblems, ...passes.flatMap((pass) => pass.problems)];
  const commits = passes.flatMap((pass) => pass.commits ?? []);
  const [newest = nothing] = passes.toSorted((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt));
  return {
    schema: 'dns-template-sync/report/v1',
    run: newest.run,
    trigger: newest.trigger,
    startedAt: newest.startedAt,
    durationMs: Math.round(newest.durationMs),
    dryRun: passes.every((pass) => pass.dryRun),
    status: problems.some(({ severity }) => severity === 'error') ? 'failed' : statusOf(templates),
    summary: summaryOf(templates),
    templates,
    problems,
    // Clients may share a repository.
    commits: [...new Map(commits.map((one) => [`${one.revision} ${one.url}`, one])).values()],
    unmanaged: passes.flatMap((pass) => pass.unmanaged ?? []),
  };
};

/** Before the first pass. */
const nothing = { run: '', trigger: 'startup', startedAt: new Date(0).toISOString(), durationMs: 0 } as const;

/** The worst of all parts. What was written differs no more, and a pending subdomain may still follow. */
const statusOf = (templates: readonly TemplateResult[]): Status =>
  worstOf(
    templates.flatMap(({ status, differences, subdomains }) => [
      status,
      ...(differences.some(({ outcome }) => outcome !== 'applied') ? ['drifted' as const] : []),
      ...subdomains.flatMap((subdomain) => (subdomain.status === 'pending' ? [] : subdomain.status)),
    ]),
  );

/** The counts of remaining and written differences. */
export const summaryOf = (templates: readonly TemplateResult[]): Summary => {
  const subdomains = templates.flatMap((template) => template.subdomains);
  const counts = { add: 0, update: 0, park: 0, surplus: 0, blocked: 0, applied: 0 };
  const held = { add: 0, update: 0, park: 0 };
  for (const { action, outcome } of templates.flatMap(({ differences }) => differences)) {
    counts[outcome === 'applied' ? 'applied' : action] += 1;
    if (outcome === 'skipped' && action !== 'surplus' && action !== 'blocked') held[action] += 1;
  }
  const having = (status: Status): readonly TemplateResult[] =>
    templates.filter((one) => one.status === status);
  return {
    templates: templates.length,
    inSync: templates.reduce((sum, { inSync }) => sum + inSync, 0),
    ...counts,
    differing: templates.length - having('in-sync').length,
    held,
    suspendedTemplates: having('suspended').length,
    heldTemplates: having('held').filter(({ retryAt }) => retryAt === undefined).length,
    failedTemplates: having('failed').length,
    subdomains: subdomains.length,
    subdomainDifferences: subdomains.reduce((sum, { differences }) => sum + differences.length, 0),
  };
};

/**
 * The exit code: 1 for an error, else 2 if differences remain and `detailed` is set, else 0. After writing it is also an error if a
 * write was not sent or did not certainly succeed, or a template was held, or one that the command `named` is suspended and
 * differs. `isIncomplete`: it was ended by a signal.
 */
export const exitCodeOf = (
  { status, dryRun, templates }: Report,
  {
    detailed,
    isIncomplete = false,
    named = [],
  }: { readonly detailed: boolean; readonly isIncomplete?: boolean; readonly named?: readonly string[] },
): 0 | 1 | 2 => {
  // Also what the pass itself kept from being sent, rather than a mode or a person.
  const isLeftUndone = templates.some(
    (one) =>
      one.status === 'held' ||
      (one.status === 'suspended' && named.includes(one.template) && differs(one)) ||
      one.differences.some(
        ({ outcome, skippedBy }) => outcome === 'failed' || outcome === 'unknown' || skippedBy === 'pass',
      ),
  );
  if (status === 'failed' || isIncomplete || (!dryRun && isLeftUndone)) return 1;
  // Nothing may differ in what is suspended.
  const isBehind = templates.some((one) => differs(one) || !['in-sync', 'suspended'].includes(one.status));
  return detailed && isBehind ? 2 : 0;
};

const differs = ({ differences, subdomains }: TemplateResult): boolean =>
  differences.some(({ outcome }) => outcome !== 'applied') ||
  subdomains.some(({ status }) => status !== 'in-sync' && status !== 'pending');
