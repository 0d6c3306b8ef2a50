import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { groupBy } from '../model/group.ts';
import { canonicalHost } from '../model/host.ts';
import type { Difference } from '../plan/difference.ts';
import {
  statuses,
  type Report,
  type SubdomainAnswers,
  type SubdomainResult,
  type Summary,
  type TemplateResult,
  type UnmanagedTemplate,
} from '../result.ts';
import { templateAddress } from './address.ts';
import { hasTrouble, isFaulty, remarksOn, rowsOfAnswers } from './answers.ts';
import { summaryOf as countsOf } from './assemble.ts';
import { shorten } from './columns.ts';
import { rowOfSubdomain, rowsOf, shownMessage, wordOf, type ReportRow, type State } from './row.ts';
import { resuming } from './to-do.ts';

/**
 * A heading and what stands below it: a template, several with the same message, a subdomain, its name servers. Each format
 * shows all of them in the same way. Every text is visible and harmless to a terminal.
 */
export interface Section {
  readonly title: string;
  readonly state: State;
  /** What differs and what does not, such as `2 to change, 1 surplus, 5 in sync`. */
  readonly counts?: string;
  /** Of a template; the page of it, from the root of the pages; where to see the commit of the file. */
  readonly file?: string;
  readonly page?: string;
  readonly commitUrl?: string | undefined;
  /** Why, and what to do, in paragraphs. */
  readonly said: readonly string[];
  readonly rows?: readonly ReportRow[];
  /** What the two sides of the rows are; absent: service and file. */
  readonly sides?: readonly [actual: string, desired: string];
  /** How many rows, here and below, were left out. */
  readonly more?: number;
  readonly parts?: readonly Section[];
  /** Templates that have nothing else to say. */
  readonly names?: readonly Section[];
}

export type View = ReturnType<typeof viewOf>;

/**
 * The report in words, for people, the worst first. `withClient`: whether templates and problems are named with theirs;
 * default: where there are several.
 */
export const viewOf = (report: Report, withClient = hasSeveralClients(report)) => {
  const { templates, problems, commits, unmanaged, base } = report;
  const section = (template: ShownTemplate) => sectionOf(template, withClient, commits);
  const isSaid = problems.some(({ check }) => check === 'unmanaged');
  const aside = isSaid ? [] : unmanagedProblems(unmanaged, withClient).map(({ message }) => message);
  return {
    status: report.status,
    summary: summaryOf(report),
    /** Said once, and not on each line of a first plan. */
    causes: templates.some(({ differences }) => differences.some(isUnexplained))
      ? 'Causes are unknown unless a line names one: these records differed when they were first read.'
      : null,
    sections: groupsOf(templates).map((group): Section => {
      const [first, ...others] = group.map(section);
      if (others.length === 0) return first!;
      const { state, said } = first!;
      return { title: `${group.length} templates`, state, said, names: [first!, ...others] };
    }),
    /** Templates that are just in sync. */
    calm: templates.filter(isCalm).map(section),
    problems: problems.map((problem) => problemView(problem, withClient)),
    /** What no file manages, and what the report is without, in sentences. */
    aside: [...aside, base === undefined ? [] : ofBase].flat().join('. ') || null,
  };
};

const hasSeveralClients = ({ templates, problems }: Report): boolean =>
  new Set([...templates, ...problems].flatMap(({ client }) => client || [])).size > 1;

const isUnexplained = (one: Difference): boolean =>
  'cause' in one && one.cause === 'unknown' && one.action !== 'surplus' && one.outcome !== 'applied';

const ofBase =
  'Compared as if the files of the base branch had been applied: what only the daemon knows (failures, suspensions, losses, records dropped before) is not in it';

/** What differs, is held or has failed, the worst first. Templates with the same message and nothing else are one group. */
export const groupsOf = (templates: readonly TemplateResult[]): readonly (readonly TemplateResult[])[] => {
  const differing = worstFirst(templates.filter((template) => !isCalm(template)));
  const groups = groupBy(differing, (template): unknown => {
    const { status, message, differences, subdomains } = template;
    return message !== null && differences.length === 0 && subdomains.every(follows)
      ? `${status} ${message}`
      : template;
  });
  return [...groups.values()];
};

export const isCalm = ({ status, message, differences, subdomains }: TemplateResult): boolean =>
  status === 'in-sync' && message === null && differences.length === 0 && subdomains.every(follows);

/**
 * Sorts by urgency: failed templates before held ones, failed records before blocked ones; then records as people would, by name,
 * where `host10` comes after `host2`, by type and by priority.
 */
export const worstFirst = (templates: readonly TemplateResult[]): TemplateResult[] =>
  templates
    .map((template) => ({ ...template, differences: sorted(template.differences) }))
    .toSorted((one, other) => statuses.indexOf(other.status) - statuses.indexOf(one.status));

const sorted = (differences: readonly Difference[]): readonly Difference[] =>
  differences
    .map((one) => {
      const { name, type, priority, content } =
        one.action === 'surplus' || one.action === 'park' ? one.current : one.desired;
      return { one, rank: rankOf(one), text: inOrder(`${name ?? ''} ${type} ${priority ?? 0} ${content}`) };
    })
    .toSorted((a, b) => a.rank - b.rank || (a.text < b.text ? -1 : Number(a.text > b.text)))
    .map(({ one }) => one);

/** Numbers by their value. (`Intl.Collator` does that too, and takes 10 ms to load.) */
const inOrder = (text: string): string =>
  text.toLowerCase().replaceAll(/\d+/g, (digits) => digits.padStart(20, '0'));

const rankOf = ({ action, outcome }: Difference): number => {
  if (outcome === 'applied') return 4;
  if (outcome === 'failed' || outcome === 'unknown') return 0;
  if (action === 'blocked') return 1;
  return action === 'surplus' ? 3 : 2;
};

/** `more`: how many differences of it were left out. */
export type ShownTemplate = TemplateResult & { readonly more?: number };

export const sectionOf = (
  template: ShownTemplate,
  withClient: boolean,
  commits: Report['commits'],
): Section => {
  const { client, template: name, id, file, revision, status, message, differences, more = 0 } = template;
  const behind = template.subdomains.filter((one) => !follows(one));
  const found = countsOf([template]);
  const isHeld = status === 'held' || status === 'suspended';
  return {
    title: escapeControl(`${withClient ? `${client}: ` : ''}${name}${id === null ? '' : ` (${id})`}`),
    state: status,
    counts: listed([
      ...changeCounts({ ...found, held: isHeld ? noneHeld : found.held }),
      [template.inSync, 'in sync'],
      [template.parked, 'parked'],
      [template.ignored, 'ignored'],
      [template.subdomains.length - behind.length, 'in sync', 'subdomain'],
    ]),
    file: escapeControl(revision === null ? file : `${file} at ${revision.slice(0, 10)}`),
    page: templateAddress(name, withClient ? client : null),
    commitUrl: commits.find((one) => one.revision === revision)?.url,
    said: [
      message === null ? [] : shownMessage(message),
      template.suspension === undefined || differences.length === 0 ? [] : `To do: ${resuming(name, client)}`,
    ].flat(),
    rows: rowsOf(name, differences, message, template.retryAt === undefined),
    more,
    parts: behind.map(subdomainSection),
  };
};

const noneHeld: Summary['held'] = { add: 0, update: 0, park: 0 };

/** Whether the subdomain and its name servers are in sync. */
export const follows = ({ status, answers }: SubdomainResult): boolean =>
  status === 'in-sync' && !hasTrouble(answers);

const subdomainSection = ({
  subdomain,
  status,
  message,
  differences,
  answers,
}: SubdomainResult): Section => ({
  title: `subdomain ${escapeControl(subdomain)}`,
  state: status,
  said: message === null ? [] : [shownMessage(message)],
  rows: differences.map(rowOfSubdomain),
  sides: ['at the subdomain', 'in its template'],
  parts: hasTrouble(answers) ? [serverSection(answers, canonicalHost(subdomain))] : [],
});

const serverSection = (answers: SubdomainAnswers, subdomain: string): Section => ({
  title: 'name servers',
  state: answers.status,
  said: remarksOn(answers),
  rows: rowsOfAnswers(answers, subdomain),
  sides: ['at the name servers', 'at the service'],
});

/** The state in words; that something differs is clear from the counts. */
export const stateText = ({ state, counts = '' }: Section): string =>
  (state === 'drifted' || state === 'in-sync') && counts !== ''
    ? counts
    : [wordOf(state), counts].filter(Boolean).join(': ');

type Problem = Report['problems'][number];

export const problemView = (problem: Problem, withClient: boolean) => {
  const { severity } = problem;
  const file = [withClient ? problem.client : '', problem.file ?? ''].filter(Boolean).join(': ');
  const place = escapeControl([file, problem.line ?? [], problem.column ?? []].flat().join(':'));
  const [message, check] = [escapeControl(problem.message), escapeControl(problem.check)];
  const words = `${place === '' ? '' : `${place}: `}${severity}: ${message} [${check}]`;
  return { severity, place, message, check, words };
};

/** In a sentence of others: `web.yaml:3:5: no`. */
export const problemText = (problem: Problem): string =>
  [problemView(problem, false).place, problem.message].filter(Boolean).join(': ');

/** The templates that no file describes: an error for those who want it to be one. */
export const unmanagedProblems = (
  templates: readonly UnmanagedTemplate[],
  withClient = false,
): Report['problems'] => {
  const [first, ...others] = templates;
  if (first === undefined) return [];
  const names = templates.map(
    ({ client, template, hadFile }) =>
      `${withClient ? `${client}: ` : ''}${template}${hadFile ? ', whose file is gone' : ''}`,
  );
  const have = others.length === 0 ? 'has' : 'have';
  const shown = shorten(escapeControl(names.join('; ')), 400);
  const message = `${plural(templates.length, 'template')} at the service ${have} no file (${shown}): \`dns-template-sync import\` writes files for them`;
  const nowhere = { file: null, line: null, column: null };
  return [{ severity: 'error', check: 'unmanaged', message, client: first.client, ...nowhere }];
};

/** The whole report in a line. */
export const summaryOf = ({ status, summary, templates, problems }: Report): string => {
  const answers = templates.flatMap(({ subdomains }) => subdomains.map((one) => one.answers));
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const words = listed([
    ...changeCounts(summary),
    [summary.suspendedTemplates, 'suspended', 'template'],
    [summary.heldTemplates, 'held', 'template'],
    [summary.failedTemplates, 'failed', 'template'],
    [summary.subdomainDifferences, 'in subdomains', 'difference'],
    [answers.flatMap(({ differences }) => differences).length, 'at name servers', 'difference'],
    [answers.flatMap(({ servers }) => servers.filter(isFaulty)).length, 'at fault', 'name server'],
    [errors, '', 'error'],
    [problems.length - errors, '', 'warning'],
  ]);
  if (status !== 'in-sync') return words || wordOf(status);
  const all = `everything in sync: ${plural(summary.inSync, 'record')} in ${plural(summary.templates, 'template')}`;
  return [words || [], summary.templates === 0 ? 'no templates were compared' : all].flat().join(', ');
};

/** With a noun: `1 template held`; without: `2 to change`. */
type Counted = readonly [count: number, words: string, noun?: string];

const changeCounts = ({ held, ...counts }: Summary): readonly Counted[] => [
  [counts.applied, 'applied'],
  [counts.add - held.add, 'to add'],
  [counts.update - held.update, 'to change'],
  [counts.park - held.park, 'to park'],
  [held.add + held.update + held.park, 'held back'],
  [counts.surplus, 'surplus'],
  [counts.blocked, 'blocked'],
];

const listed = (parts: readonly Counted[]): string =>
  parts
    .filter(([count]) => count > 0)
    .map(([count, words, noun]) => `${noun === undefined ? count : plural(count, noun)} ${words}`.trimEnd())
    .join(', ');
