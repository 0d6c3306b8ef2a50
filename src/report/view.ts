import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { groupBy } from '../model/group.ts';
import { canonicalHost } from '../model/host.ts';
import { shellWord } from '../model/shell-word.ts';
import type {
  Commit,
  Report,
  SubdomainResult,
  Summary,
  TemplateResult,
  UnmanagedTemplate,
} from '../result.ts';
import { answersView, hasTrouble, isFaulty } from './answers-view.ts';
import { summaryOf as countsOf } from './assemble.ts';
import { shorten } from './columns.ts';
import { rowOf, rowOfSubdomain } from './row.ts';
import { toDosOf } from './to-do.ts';
import { groupAlike, worstFirst } from './worst-first.ts';

export type TemplateView = ReturnType<typeof templateView>;
/** Of a subdomain that is not in sync. */
export type SubdomainView = ReturnType<typeof subdomainView>;
export type ProblemView = ReturnType<typeof problemView>;

export const statusWords = {
  'in-sync': 'in sync',
  pending: 'pending',
  drifted: 'differs',
  suspended: 'suspended',
  held: 'held',
  failed: 'failed',
} as const;

/** The report in words, for people, the worst first. Every text is visible and harmless to a terminal. */
export const viewOf = (report: Report) => {
  const { problems, unmanaged } = report;
  const sorted = worstFirst(report.templates);
  const withClient = new Set([...sorted, ...problems].flatMap(({ client }) => client || [])).size > 1;
  const templates = sorted.map((template) => templateView(template, withClient, report.commits));
  const isQuiet = ({ status, rows, subdomains, message }: TemplateView): boolean =>
    status === 'in-sync' && rows.length + subdomains.length === 0 && message === null;
  const differing = templates.filter((one) => !isQuiet(one));
  const isProblem = problems.some(({ check }) => check === 'unmanaged');
  const aside = [
    isProblem || unmanaged.length === 0 ? [] : unmanagedSentence(unmanaged, withClient),
    report.base === undefined ? [] : baseSentence,
  ].flat();
  return {
    status: report.status,
    summary: summaryOf(report),
    /** Said once, and not on each line of a first plan. */
    causes: sorted.some(({ differences }) => differences.some(isUnexplained))
      ? 'Causes are unknown unless a line names one: these records differed when they were first read.'
      : null,
    /** What differs, is held or has failed. Templates with the same message and nothing else are one group. */
    groups: groupAlike(differing, ({ status, message, rows, subdomains }) =>
      message !== null && rows.length + subdomains.length === 0 ? `${status} ${message}` : null,
    ),
    /** Templates that are just in sync. */
    quiet: templates.filter(isQuiet),
    problems: problems.map((problem) => problemView(problem, withClient)),
    /** Of the groups, each once. */
    commits: [...groupBy(differing, ({ commit }) => commit?.url).values()].flatMap(
      ([one]) => one?.commit ?? [],
    ),
    /** What no file manages, and what the report is without, in sentences. */
    aside: aside.length === 0 ? null : escapeControl(aside.join('. ')),
  };
};

const isUnexplained = (one: TemplateResult['differences'][number]): boolean =>
  'cause' in one && one.cause === 'unknown' && one.action !== 'surplus' && one.outcome !== 'applied';

const baseSentence =
  'Compared as if the files of the base branch had been applied: what only the daemon knows (failures, suspensions, losses, records dropped before) is not in it';

/** The templates that no file describes. */
const unmanagedSentence = (templates: readonly UnmanagedTemplate[], withClient = false): string => {
  const names = templates
    .slice(0, maxNamed)
    .map(({ client, template, hadFile }) =>
      shorten(
        `${withClient ? `${client}: ` : ''}${template}${hadFile ? ', whose file is gone' : ''}`,
        maxName,
      ),
    );
  const more = templates.length > maxNamed ? ` and ${templates.length - maxNamed} more` : '';
  const have = `${plural(templates.length, 'template')} at the service ${templates.length === 1 ? 'has' : 'have'} no file`;
  return `${have} (${names.join('; ')}${more}): \`import\` writes files for them`;
};

const maxNamed = 10;
/** Columns. */
const maxName = 80;

/** For those to whom a template without a file is an error. */
export const unmanagedProblems = (templates: readonly UnmanagedTemplate[]): Report['problems'] =>
  templates.slice(0, 1).map(({ client }) => ({
    severity: 'error',
    check: 'unmanaged',
    message: unmanagedSentence(templates),
    client,
    file: null,
    line: null,
    column: null,
  }));

export const templateView = (template: TemplateResult, withClient: boolean, commits: readonly Commit[]) => {
  const { client, template: name, id, file, revision, status, message, differences } = template;
  const behind = template.subdomains.filter((one) => !follows(one));
  const followers = template.subdomains.length - behind.length;
  const messages = [
    message ?? [],
    template.suspension !== undefined && differences.length > 0
      ? `\`dns-template-sync resume ${shellWord(name)}\` ends the suspension`
      : [],
  ].flat();
  const commit = commits.find((one) => one.revision === revision);
  const toDos = toDosOf(template);
  const counts = listed([
    ...changeWords(countsOf([template])),
    [template.inSync, `${template.inSync} in sync`],
    [template.parked, `${template.parked} parked`],
    [template.ignored, `${template.ignored} ignored`],
    [followers, `${plural(followers, 'subdomain')} in sync`],
  ]);
  const word = template.asOf === null ? 'not compared' : statusWords[status];
  const isClear = (status === 'drifted' || status === 'in-sync') && counts !== '';
  return {
    title: escapeControl(`${withClient ? `${client}: ` : ''}${name}${id === null ? '' : ` (${id})`}`),
    status,
    word,
    /** Why it is held or failed, and what ends that. */
    message: messages.length === 0 ? null : escapeControl(messages.join('; ')),
    /** What differs and what does not, such as `2 to change, 1 surplus, 5 in sync`. */
    counts,
    /** The same after the word for the status, unless the counts say it. */
    state: isClear ? counts : [word, counts].filter(Boolean).join(': '),
    file: escapeControl(revision === null ? file : `${file} at ${revision.slice(0, 10)}`),
    /** Null: none, or nobody knows where to see it. */
    commit:
      commit === undefined ? null : { id: escapeControl(commit.revision.slice(0, 10)), url: commit.url },
    rows: differences.map((difference) => rowOf(difference, toDos.get(difference), message)),
    subdomains: behind.map(subdomainView),
  };
};

/** Whether the subdomain and its name servers are in sync. */
export const follows = ({ status, answers }: SubdomainResult): boolean =>
  status === 'in-sync' && !hasTrouble(answers);

const subdomainView = ({ subdomain, status, message, differences, answers }: SubdomainResult) => ({
  subdomain: escapeControl(subdomain),
  status,
  message: message === null ? null : escapeControl(message),
  rows: differences.map(rowOfSubdomain),
  /** Null if there is nothing to show. */
  answers: hasTrouble(answers) ? answersView(answers, canonicalHost(subdomain)) : null,
});

export const problemView = (problem: Report['problems'][number], withClient: boolean) => {
  const { severity } = problem;
  const file = [withClient ? problem.client : '', problem.file ?? ''].filter(Boolean).join(': ');
  const place = escapeControl([file, problem.line ?? [], problem.column ?? []].flat().join(':'));
  const [message, check] = [escapeControl(problem.message), escapeControl(problem.check)];
  const words = `${place === '' ? '' : `${place}: `}${severity}: ${message} [${check}]`;
  return { severity, place, message, check, words };
};

/** The whole report in a line. */
export const summaryOf = ({ status, summary, templates, problems }: Report): string => {
  const answers = templates.flatMap(({ subdomains }) => subdomains.map((one) => one.answers));
  const unlike = answers.reduce((sum, { differences }) => sum + differences.length, 0);
  const faulty = answers.reduce((sum, { servers }) => sum + servers.filter(isFaulty).length, 0);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  // Of these nothing is known but that the service could not be read.
  const unread = templates.filter((one) => one.asOf !== undefined && one.status === 'failed').length;
  const compared = summary.templates - unread;
  const differing = templates.filter((one) => one.status === 'drifted').length;
  const differ = `${differing} of ${plural(compared, 'template')} ${differing === 1 ? 'differs' : 'differ'}`;
  const records = `${plural(summary.inSync, 'record')} in ${plural(summary.templates, 'template')}`;
  const everything = summary.templates === 0 ? 'no templates' : `everything in sync: ${records}`;
  const words = listed([
    counted(unread, 'template', ' not compared'),
    [compared > 1 ? differing : 0, differ],
    ...changeWords(summary, summary.held),
    counted(summary.suspendedTemplates, 'template', ' suspended'),
    counted(summary.heldTemplates, 'template', ' held'),
    counted(summary.failedTemplates - unread, 'template', ' failed'),
    [status === 'in-sync' ? 1 : 0, everything],
    counted(summary.subdomainDifferences, 'difference', ' in subdomains'),
    counted(unlike, 'difference', ' at name servers'),
    counted(faulty, 'name server', ' at fault'),
    counted(errors, 'error'),
    counted(problems.length - errors, 'warning'),
  ]);
  return words || statusWords[status];
};

type Counted = readonly [count: number, words: string];

const counted = (count: number, noun: string, rest = ''): Counted => [count, plural(count, noun) + rest];

const changeWords = (counts: Summary, held = { add: 0, update: 0, park: 0 }): readonly Counted[] => {
  const of = (count: number, words: string): Counted => [count, `${count} ${words}`];
  return [
    of(counts.applied, 'applied'),
    of(counts.add - held.add, 'to add'),
    of(counts.update - held.update, 'to change'),
    of(counts.park - held.park, 'to park'),
    of(held.add + held.update + held.park, 'held back'),
    of(counts.surplus, 'surplus'),
    of(counts.blocked, 'blocked'),
  ];
};

const listed = (parts: readonly Counted[]): string =>
  parts.flatMap(([count, words]) => (count > 0 ? words : [])).join(', ');
