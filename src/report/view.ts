import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { groupBy } from '../plan/group.ts';
import { canonicalHost } from '../model/host.ts';
import type { Commit, Status, SubdomainResult, TemplateResult } from '../result.ts';
import type { Report } from './report.ts';
import { type AnswersView, answersView, hasTrouble, isFaulty } from './answers-view.ts';
import { type ReportRow, rowOf, rowOfSubdomain } from './row.ts';
import { asideOf } from './unmanaged.ts';

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
  /** What no file manages, and what the report is without, in sentences. */
  readonly unmanaged: string | null;
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
    unmanaged: asideOf(report, severalClients),
  };
};

export const statusWords = {
  'in-sync': 'in sync',
  pending: 'pending',
  drifted: 'drifted',
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
  const messages = [
    ...(template.message === null ? [] : [template.message]),
    ...common.filter((reason) => !reason.startsWith(heldWord)),
  ];
  return {
    title: titleOf(template, withClient),
    status,
    ...(asOf === undefined ? {} : { asOf }),
    message: messages.length === 0 ? null : escapeControl(messages.join('; ')),
    counts: listed([
      [inSync, status === 'in-sync' ? plural(inSync, 'record') : `${inSync} in sync`],
      [parked, `${parked} parked`],
      [ignored, `${ignored} ignored`],
      [followers, `${plural(followers, 'subdomain')} in sync`],
    ]),
    file: escapeControl(revision === null ? file : `${file} at ${shortId(revision)}`),
    commit: commitView(commits.find((one) => one.revision === revision)),
    rows: template.differences.map((difference) => rowOf(difference, template.template, common)),
    subdomains: behind.map(subdomainOf),
  };
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
  const { differing, held } = summary;
  const [add, update, park] = [
    summary.add - held.add,
    summary.update - held.update,
    summary.park - held.park,
  ];
  const heldBack = held.add + held.update + held.park;
  // Of these nothing is known but that the service could not be read.
  const unread = templates.filter((one) => one.asOf !== undefined && one.status === 'failed').length;
  const [compared, unlikeFile] = [summary.templates - unread, differing - unread];
  const differ = `${unlikeFile} of ${plural(compared, 'template')} ${unlikeFile === 1 ? 'differs' : 'differ'}`;
  return (
    listed([
      [unread, `${plural(unread, 'template')} not compared`],
      [compared > 1 ? unlikeFile : 0, differ],
      [summary.applied, `${summary.applied} applied`],
      [add, `${add} to add`],
      [update, `${update} to change`],
      [park, `${park} to park`],
      [heldBack, `${heldBack} held back`],
      [summary.surplus, `${summary.surplus} surplus that cannot be deleted`],
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

const listed = (parts: readonly (readonly [count: number, words: string])[]): string =>
  parts
    .filter(([count]) => count > 0)
    .map(([, words]) => words)
    .join(', ');
