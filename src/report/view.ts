import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { groupBy } from '../model/group.ts';
import { canonicalHost } from '../model/host.ts';
import { recordTypes, type RecordData } from '../model/record.ts';
import type { Difference } from '../plan/difference.ts';
import {
  statuses,
  type Report,
  type SubdomainResult,
  type Summary,
  type TemplateResult,
  type UnmanagedTemplate,
} from '../result.ts';
import { answersView, hasTrouble, isFaulty } from './answers.ts';
import { summaryOf as countsOf } from './assemble.ts';
import { shorten } from './columns.ts';
import { rowOfSubdomain, rowsOf, shownMessage, wordOf } from './row.ts';
import { resuming } from './to-do.ts';

export type View = ReturnType<typeof viewOf>;
export type TemplateView = ReturnType<typeof templateView>;
/** Of a subdomain that is not in sync. */
export type SubdomainView = ReturnType<typeof subdomainView>;

/**
 * The report in words, for people, the worst first. Every text is visible and harmless to a terminal. `withClient`: whether
 * templates and problems are named with theirs; default: where there are several.
 */
export const viewOf = (report: Report, withClient = hasSeveralClients(report)) => {
  const { templates, problems, commits, unmanaged, base } = report;
  const view = (template: ShownTemplate) => templateView(template, withClient, commits);
  const isSaid = problems.some(({ check }) => check === 'unmanaged');
  const aside = [isSaid ? null : unmanagedSentence(unmanaged), base === undefined ? null : ofBase];
  return {
    status: report.status,
    summary: summaryOf(report),
    /** Said once, and not on each line of a first plan. */
    causes: templates.some(({ differences }) => differences.some(isUnexplained))
      ? 'Causes are unknown unless a line names one: these records differed when they were first read.'
      : null,
    groups: groupsOf(templates).map((group) => group.map(view)),
    /** Templates that are just in sync. */
    quiet: templates.filter(isCalm).map(view),
    problems: problems.map((problem) => problemView(problem, withClient)),
    /** What no file manages, and what the report is without, in sentences. */
    aside: aside.filter(Boolean).join('. ') || null,
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
 * Sorts by urgency: failed templates before held ones, failed records before blocked ones. Records of the same urgency
 * are sorted as people would: by name, where `host10` comes after `host2`, by type, and by priority.
 */
export const worstFirst = (templates: readonly TemplateResult[]): TemplateResult[] =>
  templates
    .map((template) => ({
      ...template,
      differences: template.differences.toSorted(
        (one, other) => rankOf(one) - rankOf(other) || byName(recordOf(one), recordOf(other)),
      ),
    }))
    .toSorted((one, other) => statuses.indexOf(other.status) - statuses.indexOf(one.status));

const rankOf = ({ action, outcome }: Difference): number => {
  if (outcome === 'applied') return 4;
  if (outcome === 'failed' || outcome === 'unknown') return 0;
  if (action === 'blocked') return 1;
  return action === 'surplus' ? 3 : 2;
};

const recordOf = (one: Difference): RecordData =>
  one.action === 'surplus' || one.action === 'park' ? one.current : one.desired;

const byName = (one: RecordData, other: RecordData): number =>
  compare(one.name ?? '', other.name ?? '') ||
  types.indexOf(one.type) - types.indexOf(other.type) ||
  (one.priority ?? 0) - (other.priority ?? 0) ||
  compare(one.content, other.content);

const types: readonly string[] = recordTypes;
const compare = (one: string, other: string): number => {
  const [some, others] = [inOrder(one), inOrder(other)];
  return some < others ? -1 : Number(some > others);
};

/** Numbers by their value: host2 before host10. (`Intl.Collator` does that too, and takes 10 ms to load.) */
const inOrder = (text: string): string =>
  text.toLowerCase().replaceAll(/\d+/g, (digits) => digits.padStart(20, '0'));

/** `more`: how many differences of it were left out. */
export type ShownTemplate = TemplateResult & { readonly more?: number };

export const templateView = (template: ShownTemplate, withClient: boolean, commits: Report['commits']) => {
  const { client, template: name, id, file, revision, status, message, differences, more = 0 } = template;
  const behind = template.subdomains.filter((one) => !follows(one));
  const followers = template.subdomains.length - behind.length;
  const found = countsOf([template]);
  const isHeld = status === 'held' || status === 'suspended';
  const counts = listed([
    ...changeCounts(found, isHeld ? undefined : found.held),
    [template.inSync, null, 'in sync'],
    [template.parked, null, 'parked'],
    [template.ignored, null, 'ignored'],
    [followers, 'subdomain', 'in sync'],
  ]);
  const isClear = (status === 'drifted' || status === 'in-sync') && counts !== '';
  return {
    client,
    name,
    title: escapeControl(`${withClient ? `${client}: ` : ''}${name}${id === null ? '' : ` (${id})`}`),
    status,
    /** Why it is held or failed. */
    message: message === null ? null : shownMessage(message),
    /** What ends that, unless the message says it. */
    toDo: template.suspension !== undefined && differences.length > 0 ? resuming(name) : null,
    /** What differs and what does not, such as `2 to change, 1 surplus, 5 in sync`. */
    counts,
    /** The same after the word for the status, unless the counts say it. */
    state: isClear ? counts : [wordOf(status), counts].filter(Boolean).join(': '),
    file: escapeControl(revision === null ? file : `${file} at ${revision.slice(0, 10)}`),
    /** Of the commit; null: none, or nobody knows where to see it. */
    commitUrl: commits.find((one) => one.revision === revision)?.url ?? null,
    rows: rowsOf(name, differences, message),
    subdomains: behind.map(subdomainView),
    more,
  };
};

/** Whether the subdomain and its name servers are in sync. */
export const follows = ({ status, answers }: SubdomainResult): boolean =>
  status === 'in-sync' && !hasTrouble(answers);

const subdomainView = ({ subdomain, status, message, differences, answers }: SubdomainResult) => ({
  subdomain: escapeControl(subdomain),
  status,
  message: message === null ? null : shownMessage(message),
  rows: differences.map(rowOfSubdomain),
  /** Null if there is nothing to show. */
  answers: hasTrouble(answers) ? answersView(answers, canonicalHost(subdomain)) : null,
});

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

/** The templates that no file describes; null if there are none. */
const unmanagedSentence = (templates: readonly UnmanagedTemplate[]): string | null => {
  const names = templates.map(({ template, hadFile }) =>
    hadFile ? `${template}, whose file is gone` : template,
  );
  const have = templates.length === 1 ? 'has' : 'have';
  return templates.length === 0
    ? null
    : `${plural(templates.length, 'template')} at the service ${have} no file (${shorten(escapeControl(names.join('; ')), 400)}): \`dns-template-sync import\` writes files for them`;
};

/** For those to whom a template without a file is an error. */
export const unmanagedProblems = (templates: readonly UnmanagedTemplate[]): Report['problems'] =>
  templates.slice(0, 1).map(({ client }) => ({
    severity: 'error',
    check: 'unmanaged',
    message: unmanagedSentence(templates) ?? '',
    client,
    file: null,
    line: null,
    column: null,
  }));

/** The whole report in a line. */
export const summaryOf = ({ status, summary, templates, problems }: Report): string => {
  const answers = templates.flatMap(({ subdomains }) => subdomains.map((one) => one.answers));
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const records = `${plural(summary.inSync, 'record')} in ${plural(summary.templates, 'template')}`;
  const everything =
    summary.templates === 0 ? 'no templates were compared' : `everything in sync: ${records}`;
  const words = listed([
    ...changeCounts(summary, summary.held),
    [summary.suspendedTemplates, 'template', 'suspended'],
    [summary.heldTemplates, 'template', 'held'],
    [summary.failedTemplates, 'template', 'failed'],
    [summary.subdomainDifferences, 'difference', 'in subdomains'],
    [sum(answers.map(({ differences }) => differences.length)), 'difference', 'at name servers'],
    [sum(answers.map(({ servers }) => servers.filter(isFaulty).length)), 'name server', 'at fault'],
    [errors, 'error'],
    [problems.length - errors, 'warning'],
  ]);
  return [words, status === 'in-sync' ? everything : ''].filter(Boolean).join(', ') || wordOf(status);
};

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

type Counted = readonly [count: number, noun: string | null, words?: string];

const changeCounts = (counts: Summary, held = { add: 0, update: 0, park: 0 }): readonly Counted[] => [
  [counts.applied, null, 'applied'],
  [counts.add - held.add, null, 'to add'],
  [counts.update - held.update, null, 'to change'],
  [counts.park - held.park, null, 'to park'],
  [held.add + held.update + held.park, null, 'held back'],
  [counts.surplus, null, 'surplus'],
  [counts.blocked, null, 'blocked'],
];

/** `2 to change, 1 template held`. */
const listed = (parts: readonly Counted[]): string =>
  parts
    .filter(([count]) => count > 0)
    .map(([count, noun, words]) =>
      [noun === null ? count : plural(count, noun), words ?? []].flat().join(' '),
    )
    .join(', ');
