import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import type { Status, SubdomainResult, TemplateResult } from '../result.ts';
import type { Report } from './report.ts';
import { type Row, rowOf, rowOfSubdomain } from './row.ts';

/** What people read in a report, in words. Every text in it is visible and harmless to a terminal. */
export interface View {
  readonly status: Status;
  readonly summary: string;
  readonly templates: readonly TemplateView[];
  readonly problems: readonly ProblemView[];
}

export interface TemplateView {
  readonly title: string;
  readonly status: Status;
  readonly message: string | null;
  readonly counts: string;
  readonly file: string;
  readonly rows: readonly Row[];
  /** Those that are not in sync. */
  readonly subdomains: readonly SubdomainView[];
}

export interface SubdomainView {
  readonly subdomain: string;
  readonly status: SubdomainResult['status'];
  readonly message: string | null;
  readonly rows: readonly Row[];
}

export interface ProblemView {
  readonly severity: 'error' | 'warning';
  readonly place: string;
  readonly message: string;
  readonly check: string;
}

/** Nothing to say but that it is in sync. */
export const isQuiet = ({ status, rows, subdomains, message }: TemplateView): boolean =>
  status === 'in-sync' && rows.length + subdomains.length === 0 && message === null;

export const viewOf = (report: Report): View => {
  const severalClients =
    new Set([...report.templates, ...report.problems].map(({ client }) => client)).size > 1;
  return {
    status: report.status,
    summary: summaryOf(report),
    templates: report.templates.map((template) => templateOf(template, severalClients)),
    problems: report.problems.map((problem) => problemOf(problem, severalClients)),
  };
};

export const statusWords = {
  'in-sync': 'in sync',
  pending: 'pending',
  drifted: 'drifted',
  held: 'held',
  failed: 'failed',
} as const;

const templateOf = (template: TemplateResult, withClient: boolean): TemplateView => {
  const { client, id, file, revision, status, message, inSync, parked, ignored } = template;
  const behind = template.subdomains.filter((subdomain) => subdomain.status !== 'in-sync');
  const followers = template.subdomains.length - behind.length;
  return {
    title: escapeControl(
      `${withClient ? `${client}: ` : ''}${template.template}${id === null ? '' : ` (${id})`}`,
    ),
    status,
    message: message === null ? null : escapeControl(message),
    counts: listed([
      [inSync, status === 'in-sync' ? plural(inSync, 'record') : `${inSync} in sync`],
      [parked, `${parked} parked`],
      [ignored, `${ignored} ignored`],
      [followers, `${plural(followers, 'subdomain')} in sync`],
    ]),
    file: escapeControl(revision === null ? file : `${file} at ${revision.slice(0, 10)}`),
    rows: template.differences.map(rowOf),
    subdomains: behind.map(subdomainOf),
  };
};

const subdomainOf = ({ subdomain, status, message, differences }: SubdomainResult): SubdomainView => ({
  subdomain: escapeControl(subdomain),
  status,
  message: message === null ? null : escapeControl(message),
  rows: differences.map(rowOfSubdomain),
});

const problemOf = (problem: Report['problems'][number], withClient: boolean): ProblemView => ({
  severity: problem.severity,
  place: escapeControl(
    [
      [...(withClient ? [problem.client] : []), ...(problem.file === null ? [] : [problem.file])].join(': '),
      ...[problem.line, problem.column].filter((part) => part !== null),
    ].join(':'),
  ),
  message: escapeControl(problem.message),
  check: escapeControl(problem.check),
});

const summaryOf = ({ status, summary, problems }: Report): string => {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const inSync = `everything in sync: ${plural(summary.inSync, 'record')} in ${plural(summary.templates, 'template')}`;
  return (
    listed([
      [summary.applied, `${summary.applied} applied`],
      [summary.add, `${summary.add} to add`],
      [summary.update, `${summary.update} to change`],
      [summary.park, `${summary.park} to park`],
      [summary.surplus, `${summary.surplus} surplus that cannot be deleted`],
      [summary.blocked, `${summary.blocked} blocked`],
      [summary.heldTemplates, `${plural(summary.heldTemplates, 'template')} held`],
      [summary.failedTemplates, `${plural(summary.failedTemplates, 'template')} failed`],
      [status === 'in-sync' ? 1 : 0, summary.templates === 0 ? 'no templates' : inSync],
      [
        summary.subdomainDifferences,
        `${plural(summary.subdomainDifferences, 'difference')} in subdomains${status === 'in-sync' ? ', pending' : ''}`,
      ],
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
