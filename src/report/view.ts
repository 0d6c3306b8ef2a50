import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { groupBy } from '../model/group.ts';
import { canonicalHost } from '../model/host.ts';
import type { Commit, Report, SubdomainResult, Summary, TemplateResult } from '../result.ts';
import { answersView, hasTrouble, isFaulty } from './answers-view.ts';
import { summaryOf as countsOf } from './assemble.ts';
import { rowOf, rowOfSubdomain } from './row.ts';
import { toDosOf } from './to-do.ts';
import { unmanagedSentence } from './unmanaged.ts';
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
    isProblem ? null : unmanagedSentence(unmanaged, withClient),
    report.base === undefined ? null : baseSentence,
  ].filter((sentence) => sentence !== null);
  return {
    status: report.status,
    summary: summaryOf(report),
    /** Said once if most causes are unknown, as in a first plan. */
    causes: causesOf(sorted),
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

const baseSentence =
  'Compared as if the files of the base branch had been applied: what only the daemon knows (failures, suspensions, losses, records dropped before) is not in it';

const causesOf = (templates: readonly TemplateResult[]): string | null => {
  const causes = templates.flatMap(({ differences }) =>
    differences.flatMap((one) =>
      'cause' in one && one.action !== 'surplus' && one.outcome !== 'applied' ? one.cause : [],
    ),
  );
  return causes.filter((cause) => cause === 'unknown').length * 2 > causes.length
    ? 'Causes are unknown unless a line names one: these records differed when they were first read.'
    : null;
};

export const templateView = (template: TemplateResult, withClient: boolean, commits: readonly Commit[]) => {
  const { client, template: name, id, file, revision, status, inSync, parked, ignored, message } = template;
  const behind = template.subdomains.filter((one) => !follows(one));
  const followers = template.subdomains.length - behind.length;
  const common = commonReasons(template);
  const messages = [message ?? [], ...common.filter((reason) => !reason.startsWith(heldWord))].flat();
  const commit = commits.find((one) => one.revision === revision);
  const toDos = toDosOf(template);
  const differs = listed(changeWords(countsOf([template])));
  const word = template.asOf === null ? 'not compared' : statusWords[status];
  return {
    title: escapeControl(`${withClient ? `${client}: ` : ''}${name}${id === null ? '' : ` (${id})`}`),
    status,
    /** The status and what differs, such as `2 to change, 1 surplus`. */
    state: [status === 'drifted' && differs !== '' ? [] : word, differs || []].flat().join(': '),
    /** Why it is held or failed, and common reasons for skipped differences. */
    message: messages.length === 0 ? null : escapeControl(messages.join('; ')),
    differs,
    /** What does not differ. */
    counts: listed([
      [inSync, status === 'in-sync' ? plural(inSync, 'record') : `${inSync} in sync`],
      [parked, `${parked} parked`],
      [ignored, `${ignored} ignored`],
      [followers, `${plural(followers, 'subdomain')} in sync`],
    ]),
    file: escapeControl(revision === null ? file : `${file} at ${revision.slice(0, 10)}`),
    /** Null: none, or nobody knows where to see it. */
    commit:
      commit === undefined ? null : { id: escapeControl(commit.revision.slice(0, 10)), url: commit.url },
    rows: template.differences.map((difference) => rowOf(difference, toDos.get(difference), common)),
    subdomains: behind.map(subdomainView),
  };
};

/** Reasons why several differences of a template are skipped, or that its message says. */
const commonReasons = ({ message, differences }: TemplateResult): readonly string[] => {
  const skipped = differences.filter(({ action, outcome }) => action !== 'blocked' && outcome === 'skipped');
  const isSaid = (reason: string): boolean =>
    reason.startsWith(heldWord) && message?.includes(reason.slice(heldWord.length)) === true;
  return [...groupBy(skipped, ({ error }) => error)].flatMap(([reason, some]) =>
    reason !== undefined && (some.length > 1 || isSaid(reason)) ? [reason] : [],
  );
};

/** A guard's reason is also the message of its template. */
const heldWord = 'held: ';

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
  const { add, update, park, held, inSync } = summary;
  const heldBack = held.add + held.update + held.park;
  const answers = templates.flatMap(({ subdomains }) => subdomains.map((one) => one.answers));
  const unlike = answers.reduce((sum, { differences }) => sum + differences.length, 0);
  const faulty = answers.reduce((sum, { servers }) => sum + servers.filter(isFaulty).length, 0);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  // Of these nothing is known but that the service could not be read.
  const unread = templates.filter((one) => one.asOf !== undefined && one.status === 'failed').length;
  const failed = summary.failedTemplates - unread;
  const compared = summary.templates - unread;
  const differing = templates.filter((one) => one.status === 'drifted').length;
  const all = plural(summary.templates, 'template');
  const inAll =
    summary.templates === 0 ? 'no templates' : `everything in sync: ${plural(inSync, 'record')} in ${all}`;
  const pending = status === 'in-sync' ? ', pending' : '';
  const words = listed([
    [unread, `${plural(unread, 'template')} not compared`],
    [
      compared > 1 ? differing : 0,
      `${differing} of ${plural(compared, 'template')} ${differing === 1 ? 'differs' : 'differ'}`,
    ],
    ...changeWords(
      { ...summary, add: add - held.add, update: update - held.update, park: park - held.park },
      heldBack,
    ),
    [summary.suspendedTemplates, `${plural(summary.suspendedTemplates, 'template')} suspended`],
    [summary.heldTemplates, `${plural(summary.heldTemplates, 'template')} held`],
    [failed, `${plural(failed, 'template')} failed`],
    [status === 'in-sync' ? 1 : 0, inAll],
    [
      summary.subdomainDifferences,
      `${plural(summary.subdomainDifferences, 'difference')} in subdomains${pending}`,
    ],
    [unlike, `${plural(unlike, 'difference')} at name servers${pending}`],
    [faulty, `${plural(faulty, 'name server')} at fault`],
    [errors, plural(errors, 'error')],
    [problems.length - errors, plural(problems.length - errors, 'warning')],
  ]);
  return words || statusWords[status];
};

type Counted = readonly [count: number, words: string];

const changeWords = (counts: Summary, heldBack = 0): readonly Counted[] => [
  [counts.applied, `${counts.applied} applied`],
  [counts.add, `${counts.add} to add`],
  [counts.update, `${counts.update} to change`],
  [counts.park, `${counts.park} to park`],
  [heldBack, `${heldBack} held back`],
  [counts.surplus, `${counts.surplus} surplus`],
  [counts.blocked, `${counts.blocked} blocked`],
];

const listed = (parts: readonly Counted[]): string =>
  parts
    .filter(([count]) => count > 0)
    .map(([, words]) => words)
    .join(', ');
