import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { canonicalHost } from '../model/host.ts';
import { groupBy } from '../model/group.ts';
import type { Commit, Report, SubdomainResult, Summary, TemplateResult } from '../result.ts';
import { answersView, hasTrouble, isFaulty } from './answers-view.ts';
import { summaryOf as countsOf } from './assemble.ts';
import { rowOf, rowOfSubdomain } from './row.ts';
import { toDosOf } from './to-do.ts';
import { asideOf } from './unmanaged.ts';
import { worstFirst } from './worst-first.ts';

export type TemplateView = ReturnType<typeof templateView>;
/** Of a subdomain that is not in sync. */
export type SubdomainView = ReturnType<typeof subdomainView>;
export type ProblemView = ReturnType<typeof problemView>;

/** Whether it is just in sync. */
export const isQuiet = ({ status, rows, subdomains, message }: TemplateView): boolean =>
  status === 'in-sync' && rows.length + subdomains.length === 0 && message === null;

export const statusWords = {
  'in-sync': 'in sync',
  pending: 'pending',
  drifted: 'differs',
  suspended: 'suspended',
  held: 'held',
  failed: 'failed',
} as const;

/** The state of a template: that it differs is what its counts say. */
export const stateOf = ({ status, differs }: Pick<TemplateView, 'status' | 'differs'>): string =>
  status === 'drifted' && differs !== ''
    ? differs
    : [statusWords[status], differs].filter(Boolean).join(': ');

/** The report in words, for people, the worst first. Every text is visible and harmless to a terminal. */
export const viewOf = (report: Report) => {
  const { status, problems } = report;
  const sorted = worstFirst(report.templates);
  const withClient = new Set([...sorted, ...problems].flatMap(({ client }) => client || [])).size > 1;
  const templates = sorted.map((template) => templateView(template, withClient, report.commits));
  const commits = templates.flatMap((one) => (isQuiet(one) || one.commit === null ? [] : one.commit));
  const unread = groupBy(
    sorted.filter(({ asOf }) => asOf !== undefined),
    ({ message }) => message ?? '',
  );
  return {
    status,
    summary: summaryOf(report),
    /** Said once if most causes are unknown, as in a first plan. */
    causes: causesOf(sorted),
    templates,
    /** Why templates could not be compared with the service, each reason once, and their titles. */
    outages: [...unread].map(([message, some]) => ({
      message: escapeControl(message),
      templates: some.map((template) => titleOf(template, withClient)),
    })),
    problems: problems.map((problem) => problemView(problem, withClient)),
    /** Those of templates that are not just in sync. */
    commits: [...new Map(commits.map((one) => [`${one.id} ${one.url}`, one])).values()],
    /** What no file manages, and what the report is without, in sentences. */
    unmanaged: asideOf(report, withClient),
  };
};

const causesOf = (templates: readonly TemplateResult[]): string | null => {
  const causes = templates.flatMap(({ differences }) =>
    differences.flatMap((one) =>
      'cause' in one && one.action !== 'surplus' && one.outcome !== 'applied' ? [one.cause] : [],
    ),
  );
  const isMost = causes.filter((cause) => cause === 'unknown').length * 2 > causes.length;
  return isMost
    ? 'Causes are unknown unless a line names one: these records differed when they were first read.'
    : null;
};

const titleOf = ({ client, template, id }: TemplateResult, withClient: boolean): string =>
  escapeControl(`${withClient ? `${client}: ` : ''}${template}${id === null ? '' : ` (${id})`}`);

export const templateView = (template: TemplateResult, withClient: boolean, commits: readonly Commit[]) => {
  const { file, revision, status, inSync, parked, ignored, asOf, message, differences } = template;
  const behind = template.subdomains.filter((one) => !follows(one));
  const followers = template.subdomains.length - behind.length;
  const common = commonReasons(template);
  const messages = [message ?? [], ...common.filter((reason) => !reason.startsWith(heldWord))].flat();
  const commit = commits.find((one) => one.revision === revision);
  const toDos = toDosOf(template);
  return {
    title: titleOf(template, withClient),
    status,
    /** When this was read, if the service could not be read since; null: never, which is among the outages. */
    asOf,
    /** Why it is held or failed, and common reasons for skipped differences. */
    message: messages.length === 0 ? null : escapeControl(messages.join('; ')),
    /** What differs, such as `2 to change, 1 surplus`. */
    differs: listed(changeWords(countsOf([template]))),
    /** What does not differ. */
    counts: listed([
      [inSync, status === 'in-sync' ? plural(inSync, 'record') : `${inSync} in sync`],
      [parked, `${parked} parked`],
      [ignored, `${ignored} ignored`],
      [followers, `${plural(followers, 'subdomain')} in sync`],
    ]),
    file: escapeControl(revision === null ? file : `${file} at ${shortId(revision)}`),
    /** Null: none, or nobody knows where to see it. */
    commit: commit === undefined ? null : { id: escapeControl(shortId(commit.revision)), url: commit.url },
    rows: differences.map((difference) => rowOf(difference, toDos.get(difference), common)),
    subdomains: behind.map(subdomainView),
  };
};

const shortId = (revision: string): string => revision.slice(0, 10);

/** The common reasons why differences of a template are skipped. */
const commonReasons = ({ message, differences }: TemplateResult): readonly string[] => {
  const reasons = differences.flatMap(({ action, outcome, error }) =>
    action !== 'blocked' && outcome === 'skipped' && error !== undefined ? [error] : [],
  );
  const isSaid = (reason: string): boolean =>
    reason.startsWith(heldWord) && message?.includes(reason.slice(heldWord.length)) === true;
  return [...groupBy(reasons, (reason) => reason)].flatMap(([reason, some]) =>
    some.length > 1 || isSaid(reason) ? [reason] : [],
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

export const problemView = (problem: Report['problems'][number], withClient: boolean) => ({
  severity: problem.severity,
  place: escapeControl(
    [
      [withClient ? problem.client : '', problem.file ?? ''].filter((part) => part !== '').join(': '),
      ...[problem.line, problem.column].filter((part) => part !== null),
    ].join(':'),
  ),
  message: escapeControl(problem.message),
  check: escapeControl(problem.check),
});

export const summaryOf = ({ status, summary, templates, problems }: Report): string => {
  const { add, update, park, held } = summary;
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
  const inSync = `everything in sync: ${plural(summary.inSync, 'record')} in ${plural(summary.templates, 'template')}`;
  const pending = status === 'in-sync' ? ', pending' : '';
  const words = listed([
    [unread, `${plural(unread, 'template')} not compared`],
    [
      compared > 1 ? differing : 0,
      `${differing} of ${plural(compared, 'template')} ${differing === 1 ? 'differs' : 'differ'}`,
    ],
    ...changeWords(
      { ...summary, add: add - held.add, update: update - held.update, park: park - held.park },
      [[heldBack, `${heldBack} held back`]],
    ),
    [summary.suspendedTemplates, `${plural(summary.suspendedTemplates, 'template')} suspended`],
    [summary.heldTemplates, `${plural(summary.heldTemplates, 'template')} held`],
    [failed, `${plural(failed, 'template')} failed`],
    [status === 'in-sync' ? 1 : 0, summary.templates === 0 ? 'no templates' : inSync],
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

const changeWords = (
  { applied, add, update, park, surplus, blocked }: Summary,
  heldBack: readonly Counted[] = [],
): readonly Counted[] => [
  [applied, `${applied} applied`],
  [add, `${add} to add`],
  [update, `${update} to change`],
  [park, `${park} to park`],
  ...heldBack,
  [surplus, `${surplus} surplus`],
  [blocked, `${blocked} blocked`],
];

const listed = (parts: readonly Counted[]): string =>
  parts
    .filter(([count]) => count > 0)
    .map(([, words]) => words)
    .join(', ');
