import { assembleReport } from '../report/assemble.ts';
import type { Report } from '../report/report.ts';
import { follows, summaryOf } from '../report/view.ts';
import { groupAlike, worstFirst } from '../report/worst-first.ts';
import { withoutApplied, type PassResult, type TemplateResult } from '../result.ts';
import { shows, type PageQuery, type Show } from './query.ts';

/** One report over this client; null: over all. */
export const reportOf = (
  results: readonly PassResult[],
  problems: Report['problems'],
  only: string | null,
): Report => {
  const isShown = ({ client }: { readonly client: string }): boolean => only === null || client === only;
  return assembleReport(results.filter(isShown).map(lastKnown), problems.filter(isShown));
};

/** What could not be read keeps its last known state; the reason is shown once, at the top. */
export const lastKnown = (result: PassResult): PassResult => {
  const templates = result.templates.flatMap((template): readonly TemplateResult[] => {
    const { asOf, differences, subdomains } = template;
    if (asOf === undefined) return [template];
    const differs = differences.length > 0 || subdomains.some(({ status }) => status === 'drifted');
    return asOf === null ? [] : [{ ...template, status: differs ? 'drifted' : 'in-sync', message: null }];
  });
  return { ...result, templates };
};

export type Excerpt = ReturnType<typeof excerptOf>;

/** The part of a report that one page shows: templates that match a query, or what does of each. */
export const excerptOf = (report: Report, { show, text, skip }: PageQuery) => {
  const { run, status, dryRun, commits, problems, unmanaged } = report;
  // What was applied differs no more.
  const open = report.templates.map(withoutApplied);
  const found = open
    .flatMap((template) => (show === null ? template : (partOf(template, show) ?? [])))
    .flatMap((template) => (text === '' ? template : (withText(template, text.toLowerCase()) ?? [])));
  const calm = found.filter(isCalm);
  const differing = groupAlike(
    worstFirst(found.filter((template) => !isCalm(template))),
    ({ status: state, message, differences, subdomains }) =>
      message !== null && differences.length + subdomains.length === 0 ? `${state} ${message}` : null,
  );
  const groups = differing.slice(skip, skip + limits.groups);
  const rows = Math.floor(limits.rows / Math.max(1, groups.length));
  const skipped = show === 'in-sync' ? skip : 0;
  return {
    run,
    status,
    dryRun,
    commits,
    summary: summaryOf(report),
    /** How many templates or differences there are of each kind, whatever is shown. */
    counts: shows.map(([kind]) => {
      const parts = open.flatMap((template) => partOf(template, kind) ?? []);
      return parts.reduce((sum, part) => sum + (part.status === kind ? 1 : part.differences.length), 0);
    }),
    /** The worst first; templates of which nothing but the same message is known are one group. */
    groups: groups.map((group) => ({
      shown: group.slice(0, limits.quiet).map((template) => firstOf(template, rows)),
      count: group.length,
    })),
    groupCount: differing.length,
    calm: calm.slice(skipped, skipped + limits.quiet),
    calmCount: calm.length,
    problems: problems.slice(0, limits.problems),
    problemCount: problems.length,
    unmanaged: unmanaged.slice(0, limits.quiet),
    unmanagedCount: unmanaged.length,
  };
};

/** Groups so few that a page has some 100 KB when hundreds of templates differ. */
export const limits = { groups: 12, rows: 60, quiet: 200, problems: 50 };

/** The first differences of a template and of the subdomains that do not follow it, and how many there are besides. */
export const firstOf = (whole: TemplateResult, max: number): { template: TemplateResult; more: number } => {
  const few = <T extends { readonly differences: readonly unknown[] }>(part: T, most: number): T => ({
    ...part,
    differences: part.differences.slice(0, most),
  });
  const share = Math.max(2, Math.floor(max / maxSubdomains));
  const behind = whole.subdomains.filter((one) => !follows(one)).slice(0, maxSubdomains);
  const subdomains = [
    ...behind.map((one) => ({ ...few(one, share), answers: few(one.answers, share) })),
    ...whole.subdomains.filter(follows),
  ];
  const template = { ...few(whole, max), subdomains };
  return { template, more: differencesIn(whole) - differencesIn(template) };
};

const maxSubdomains = 10;

const differencesIn = ({ differences, subdomains }: TemplateResult): number =>
  subdomains.reduce(
    (sum, one) => sum + one.differences.length + one.answers.differences.length,
    differences.length,
  );

const isCalm = ({ status, message, differences, subdomains }: TemplateResult): boolean =>
  status === 'in-sync' && message === null && differences.length === 0 && subdomains.every(follows);

/** The part of a template that is of this kind; null if nothing is. */
const partOf = (template: TemplateResult, show: Show): TemplateResult | null => {
  if (show === 'in-sync') return isCalm(template) ? template : null;
  if (show === template.status) return template;
  const differences = template.differences.filter(
    ({ action, outcome }) =>
      show === action || (show === 'failed' && (outcome === 'failed' || outcome === 'unknown')),
  );
  return differences.length === 0 ? null : { ...template, differences, subdomains: [] };
};

/** The whole template if its own texts match, else the parts that match. */
const withText = (template: TemplateResult, text: string): TemplateResult | null => {
  const holds = (...values: readonly unknown[]): boolean => wordsIn(values).toLowerCase().includes(text);
  const { client, template: name, file, message } = template;
  if (holds(client, name, file, message)) return template;
  const differences = template.differences.filter((one) => holds(one));
  const subdomains = template.subdomains.filter((one) => !follows(one) && holds(one.subdomain, one.message));
  return differences.length + subdomains.length === 0 ? null : { ...template, differences, subdomains };
};

/** All texts in a value, as `A www 192.0.2.1`. */
const wordsIn = (value: unknown): string => {
  if (value === null) return '@';
  if (typeof value === 'object') return Object.values(value).map(wordsIn).join(' ');
  return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
};
