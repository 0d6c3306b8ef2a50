import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { groupBy } from '../plan/group.ts';
import { canonicalHost } from '../model/host.ts';
import type { Difference } from '../plan/difference.ts';
import type { Commit, Status, SubdomainResult, TemplateResult } from '../result.ts';
import type { Report } from './report.ts';
import { type AnswersView, answersView, hasTrouble, isFaulty } from './answers-view.ts';
import { type ReportRow, rowOf, rowOfSubdomain } from './row.ts';
import { toDosOf } from './to-do.ts';
import { unmanagedSentence } from './unmanaged.ts';

/** The report in words, for people. Every text is visible and harmless to a terminal. */
export interface View {
  readonly status: Status;
  readonly summary: string;
  readonly templates: readonly TemplateView[];
  /** Why templates could not be compared with the service: each reason once. */
  readonly outages: readonly OutageView[];
  readonly problems: readonly ProblemView[];
  /** Those of templates that are not just in sync. */
  readonly commits: readonly CommitView[];
  /** What no file manages, in a sentence. */
  readonly unmanaged: string | null;
  /** Said once if most causes are unknown, as in a first plan. */
  readonly causes: string | null;
}

export interface OutageView {
  readonly message: string;
  /** Titles. */
  readonly templates: readonly string[];
}

export interface TemplateView {
  readonly title: string;
  readonly status: Status;
  /** When this was read, if the service could not be read since; null: never. */
  readonly asOf?: string | null;
  /** Why it is held or failed, and common reasons for skipped differences. */
  readonly message: string | null;
  /** What differs, such as `2 to change, 1 surplus`. */
  readonly differs: string;
  /** What does not differ. */
  readonly counts: string;
  readonly file: string;
  /** Null: none, or nobody knows where to see it. */
  readonly commit: CommitView | null;
  readonly rows: readonly ReportRow[];
  /** Those that are not in sync. */
  readonly subdomains: readonly SubdomainView[];
}

/** The commit of a template's file. */
export interface CommitView {
  /** The first digits of its id. */
  readonly id: string;
  readonly url: string;
}

export interface SubdomainView {
  readonly subdomain: string;
  readonly status: SubdomainResult['status'];
  readonly message: string | null;
  readonly rows: readonly ReportRow[];
  /** Null if there is nothing to show. */
  readonly answers: AnswersView | null;
}

export interface ProblemView {
  readonly severity: 'error' | 'warning';
  readonly place: string;
  readonly message: string;
  readonly check: string;
}

/** Whether it is just in sync. */
export const isQuiet = ({ status, rows, subdomains, message }: TemplateView): boolean =>
  status === 'in-sync' && rows.length + subdomains.length === 0 && message === null;

/** Whether its state is unknown, for a reason that is among the outages. */
export const isUnknown = ({ asOf }: TemplateView): boolean => asOf === null;

/** Whether it has only a message. */
export const isBare = ({ rows, subdomains, message }: TemplateView): boolean =>
  rows.length + subdomains.length === 0 && message !== null;

export const viewOf = (report: Report): View => {
  const severalClients =
    new Set([...report.templates, ...report.problems].flatMap(({ client }) => client || [])).size > 1;
  const templates = report.templates.map((template) =>
    templateView(template, severalClients, report.commits),
  );
  const commits = templates.flatMap((one) => (isQuiet(one) || one.commit === null ? [] : one.commit));
  return {
    status: report.status,
    summary: summaryOf(report),
    templates,
    commits: [...new Map(commits.map((one) => [`${one.id} ${one.url}`, one])).values()],
    outages: outagesOf(report.templates, severalClients),
    problems: report.problems.map((problem) => problemView(problem, severalClients)),
    unmanaged: unmanagedView(report, severalClients),
    causes: causesOf(report),
  };
};

const causesOf = ({ templates }: Pick<Report, 'templates'>): string | null => {
  const causes = templates.flatMap(({ differences }) =>
    differences.flatMap((one) => ('cause' in one && one.action !== 'surplus' ? [one.cause] : [])),
  );
  const isMost = causes.filter((cause) => cause === 'unknown').length * 2 > causes.length;
  return isMost
    ? 'Causes are unknown unless a line names one: these records differed when they were first read.'
    : null;
};

/** Null too if it is among the problems. */
const unmanagedView = (
  { unmanaged, problems }: Pick<Report, 'unmanaged' | 'problems'>,
  withClient: boolean,
): string | null => {
  if (problems.some(({ check }) => check === 'unmanaged')) return null;
  const sentence = unmanagedSentence(unmanaged, withClient);
  return sentence === null ? null : escapeControl(sentence);
};

export const statusWords = {
  'in-sync': 'in sync',
  pending: 'pending',
  drifted: 'differs',
  suspended: 'suspended',
  held: 'held',
  failed: 'failed',
} as const;

const outagesOf = (templates: readonly TemplateResult[], withClient: boolean): OutageView[] => {
  const unread = templates.filter(({ asOf }) => asOf !== undefined);
  return [...groupBy(unread, ({ message }) => message ?? '').values()].map((some) => ({
    message: escapeControl(some[0]?.message ?? ''),
    templates: some.map((template) => titleOf(template, withClient)),
  }));
};

const titleOf = ({ client, template, id }: TemplateResult, withClient: boolean): string =>
  escapeControl(`${withClient ? `${client}: ` : ''}${template}${id === null ? '' : ` (${id})`}`);

export const templateView = (
  template: TemplateResult,
  withClient: boolean,
  commits: readonly Commit[],
): TemplateView => {
  const { file, revision, status, inSync, parked, ignored, asOf } = template;
  const isBehind = ({ status: one, answers }: SubdomainResult): boolean =>
    one !== 'in-sync' || hasTrouble(answers);
  const behind = template.subdomains.filter(isBehind);
  const followers = template.subdomains.length - behind.length;
  const common = commonReasons(template);
  const toDos = toDosOf(template);
  const messages = [
    ...(template.message === null ? [] : [template.message]),
    ...common.filter((reason) => !reason.startsWith(heldWord)),
  ];
  return {
    title: titleOf(template, withClient),
    status,
    ...(asOf === undefined ? {} : { asOf }),
    message: messages.length === 0 ? null : escapeControl(messages.join('; ')),
    differs: listed(differencesIn(template)),
    counts: listed([
      [inSync, status === 'in-sync' ? plural(inSync, 'record') : `${inSync} in sync`],
      [parked, `${parked} parked`],
      [ignored, `${ignored} ignored`],
      [followers, `${plural(followers, 'subdomain')} in sync`],
    ]),
    file: escapeControl(revision === null ? file : `${file} at ${shortId(revision)}`),
    commit: commitView(commits.find((one) => one.revision === revision)),
    rows: template.differences.map((difference) => rowOf(difference, toDos.get(difference), common)),
    subdomains: behind.map(subdomainOf),
  };
};

/** Of a template that is held it is said above that nothing is written. */
const differencesIn = ({ differences }: TemplateResult): Counted[] => {
  const count = (action: Difference['action']): number =>
    differences.filter((one) => one.action === action && one.outcome !== 'applied').length;
  const applied = differences.filter(({ outcome }) => outcome === 'applied').length;
  return [
    [applied, `${applied} applied`],
    [count('add'), `${count('add')} to add`],
    [count('update'), `${count('update')} to change`],
    [count('park'), `${count('park')} to park`],
    [count('surplus'), `${count('surplus')} surplus`],
    [count('blocked'), `${count('blocked')} blocked`],
  ];
};

const shortId = (revision: string): string => revision.slice(0, 10);

const commitView = (commit: Commit | undefined): CommitView | null =>
  commit === undefined ? null : { id: escapeControl(shortId(commit.revision)), url: commit.url };

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

const subdomainOf = ({
  subdomain,
  status,
  message,
  differences,
  answers,
}: SubdomainResult): SubdomainView => ({
  subdomain: escapeControl(subdomain),
  status,
  message: message === null ? null : escapeControl(message),
  rows: differences.map(rowOfSubdomain),
  answers: hasTrouble(answers) ? answersView(answers, canonicalHost(subdomain)) : null,
});

export const problemView = (problem: Report['problems'][number], withClient: boolean): ProblemView => ({
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
  const answers = templates.flatMap(({ subdomains }) => subdomains.map((one) => one.answers));
  const unlike = answers.reduce((sum, { differences }) => sum + differences.length, 0);
  const faulty = answers.reduce((sum, { servers }) => sum + servers.filter(isFaulty).length, 0);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const inSync = `everything in sync: ${plural(summary.inSync, 'record')} in ${plural(summary.templates, 'template')}`;
  const { held } = summary;
  const [add, update, park] = [
    summary.add - held.add,
    summary.update - held.update,
    summary.park - held.park,
  ];
  const heldBack = held.add + held.update + held.park;
  // Of these nothing is known but that the service could not be read.
  const unread = templates.filter((one) => one.asOf !== undefined && one.status === 'failed').length;
  const compared = summary.templates - unread;
  const differing = templates.filter((one) => one.status === 'drifted').length;
  const differ = `${differing} of ${plural(compared, 'template')} ${differing === 1 ? 'differs' : 'differ'}`;
  return (
    listed([
      [unread, `${plural(unread, 'template')} not compared`],
      [compared > 1 ? differing : 0, differ],
      [summary.applied, `${summary.applied} applied`],
      [add, `${add} to add`],
      [update, `${update} to change`],
      [park, `${park} to park`],
      [heldBack, `${heldBack} held back`],
      [summary.surplus, `${summary.surplus} surplus`],
      [summary.blocked, `${summary.blocked} blocked`],
      [summary.suspendedTemplates, `${plural(summary.suspendedTemplates, 'template')} suspended`],
      [summary.heldTemplates, `${plural(summary.heldTemplates, 'template')} held`],
      [summary.failedTemplates - unread, `${plural(summary.failedTemplates - unread, 'template')} failed`],
      [status === 'in-sync' ? 1 : 0, summary.templates === 0 ? 'no templates' : inSync],
      [
        summary.subdomainDifferences,
        `${plural(summary.subdomainDifferences, 'difference')} in subdomains${status === 'in-sync' ? ', pending' : ''}`,
      ],
      [unlike, `${plural(unlike, 'difference')} at name servers${status === 'in-sync' ? ', pending' : ''}`],
      [faulty, `${plural(faulty, 'name server')} at fault`],
      [errors, plural(errors, 'error')],
      [warnings, plural(warnings, 'warning')],
    ]) || statusWords[status]
  );
};

type Counted = readonly [count: number, words: string];

const listed = (parts: readonly Counted[]): string =>
  parts
    .filter(([count]) => count > 0)
    .map(([, words]) => words)
    .join(', ');
