import { type Commit, type PassResult, type Status, type TemplateResult, worstOf } from '../result.ts';
import type { Report, Summary } from './report.ts';

/**
 * One report over the latest passes of all clients. Run, trigger and time are those of the newest run; the
 * time of a run is from its first start to its last end. `settingsProblems`: of clients that are left out.
 */
export const assembleReport = (
  passes: readonly PassResult[],
  settingsProblems: Report['problems'] = [],
): Report => {
  const templates = passes.flatMap((pass) => pass.templates);
  const problems = [...settingsProblems, ...passes.flatMap((pass) => pass.problems)];
  return {
    schema: 'dns-template-sync/report/v1',
    ...newestRun(passes),
    dryRun: passes.every((pass) => pass.dryRun),
    status: problems.some(({ severity }) => severity === 'error') ? 'failed' : statusOf(templates),
    summary: summaryOf(templates),
    templates,
    problems,
    commits: distinct(passes.flatMap((pass) => pass.commits ?? [])),
    unmanaged: passes.flatMap((pass) => pass.unmanaged ?? []),
  };
};

/** Clients may share a repository. */
const distinct = (commits: readonly Commit[]): Commit[] => {
  const byId = new Map(commits.map((commit) => [`${commit.revision} ${commit.url}`, commit]));
  return [...byId.values()];
};

const newestRun = (
  passes: readonly PassResult[],
): Pick<Report, 'run' | 'trigger' | 'startedAt' | 'durationMs'> => {
  const [first, ...others] = passes;
  if (first === undefined) {
    return { run: '', trigger: 'startup', startedAt: new Date(0).toISOString(), durationMs: 0 };
  }
  const newest = others.reduce((best, pass) => (startOf(pass) > startOf(best) ? pass : best), first);
  const together = passes.filter(({ run }) => run === newest.run);
  const start = Math.min(...together.map(startOf));
  const end = Math.max(...together.map((pass) => startOf(pass) + pass.durationMs));
  return {
    run: newest.run,
    trigger: newest.trigger,
    startedAt: new Date(start).toISOString(),
    durationMs: Math.round(end - start),
  };
};

const startOf = (pass: PassResult): number => Date.parse(pass.startedAt);

/**
 * The worst status of templates, of their remaining differences, and of their subdomains. A pending subdomain
 * does not count as drift.
 */
const statusOf = (templates: readonly TemplateResult[]): Status => {
  const found = new Set<Status>();
  for (const { status, differences, subdomains } of templates) {
    found.add(status);
    for (const { outcome } of differences) if (outcome !== 'applied') found.add('drifted');
    for (const subdomain of subdomains) if (subdomain.status !== 'pending') found.add(subdomain.status);
  }
  return worstOf([...found]);
};

/** The counts of remaining and written differences. */
export const summaryOf = (templates: readonly TemplateResult[]): Summary => {
  const differences = templates.flatMap((template) => template.differences);
  const applied = differences.filter(({ outcome }) => outcome === 'applied').length;
  const subdomains = templates.flatMap((template) => template.subdomains);
  const counts = { add: 0, update: 0, park: 0, surplus: 0, blocked: 0 };
  const held = { add: 0, update: 0, park: 0 };
  for (const { action, outcome } of differences) {
    if (outcome !== 'applied') counts[action] += 1;
    if (outcome === 'skipped' && action !== 'surplus' && action !== 'blocked') held[action] += 1;
  }
  return {
    templates: templates.length,
    inSync: templates.reduce((sum, template) => sum + template.inSync, 0),
    ...counts,
    applied,
    differing: templates.filter(({ status }) => status !== 'in-sync').length,
    held,
    suspendedTemplates: templates.filter(({ status }) => status === 'suspended').length,
    heldTemplates: templates.filter(({ status, retryAt }) => status === 'held' && retryAt === undefined)
      .length,
    failedTemplates: templates.filter(({ status }) => status === 'failed').length,
    subdomains: subdomains.length,
    subdomainDifferences: subdomains.reduce((sum, { differences: found }) => sum + found.length, 0),
  };
};
