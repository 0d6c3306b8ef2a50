import { assembleReport } from '../report/assemble.ts';
import { follows, groupsOf, isCalm, summaryOf, type ShownTemplate } from '../report/view.ts';
import {
  withoutApplied,
  type PassResult,
  type Report,
  type SubdomainResult,
  type TemplateResult,
} from '../result.ts';
import type { Reader } from './facts.ts';

/** Somebody who asks for a page. */
export interface Visit {
  readonly query: PageQuery;
  readonly reader: Reader;
  /** The way to the root of the pages, such as `../`, and the address of this one from there. */
  readonly root: string;
  readonly page: string;
}

/** What a page is asked to show. It is in the address, so that it can be bookmarked and shared. */
export interface PageQuery {
  readonly show: Show | null;
  /** Case does not matter. */
  readonly text: string;
  readonly client: string | null;
  /** What the reader has just done on the page; not part of other addresses. */
  readonly did: Deed | null;
}

/** What a reader may have done, and what the page then says. */
export const deeds = [
  ['sync', 'You have asked for a pass.'],
  ['suspend', 'You have suspended the template.'],
  ['resume', 'You have resumed the template.'],
  ['nothing', 'The template was not suspended.'],
  ['stays', 'It stays suspended, as all of its client is: dns-template-sync resume --client ends that.'],
] as const;
export type Deed = (typeof deeds)[number][0];

/** The kinds that can be shown alone; those that need a person come first. */
export const shows = [
  ['failed', 'failed'],
  ['blocked', 'blocked'],
  ['held', 'held'],
  ['suspended', 'suspended'],
  ['add', 'to add'],
  ['update', 'to change'],
  ['park', 'to park'],
  ['surplus', 'surplus'],
  ['in-sync', 'in sync'],
] as const;

type Show = (typeof shows)[number][0];

export const everything: PageQuery = { show: null, text: '', client: null, did: null };

/** Ignores invalid parameters. */
export const readPageQuery = (query: URLSearchParams): PageQuery => ({
  show: shows.find(([show]) => show === query.get('show'))?.[0] ?? null,
  text: (query.get('q') ?? '').trim().slice(0, 200),
  client: query.get('client') || null,
  did: deeds.find(([deed]) => deed === query.get('did'))?.[0] ?? null,
});

/** The address of the overview. All addresses are from the root of the pages, so that they work under a path of a proxy. */
export const addressOf = ({ show, text, client }: Partial<PageQuery>): string => {
  const query = new URLSearchParams();
  if (show) query.set('show', show);
  if (text) query.set('q', text);
  if (client) query.set('client', client);
  return query.size === 0 ? '' : `?${query.toString()}`;
};

/** The way from this path to the root of the pages: a name may have a slash that a proxy has decoded. */
export const rootOf = (path: string): string => {
  if (path.startsWith('/templates/')) return '../';
  if (path.startsWith('/clients/')) return '../../../';
  return '../'.repeat(path.split('/').length - 2) || './';
};

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
    const { asOf, was } = template;
    if (asOf === undefined) return [template];
    return asOf === null || was === undefined ? [] : [{ ...template, ...was }];
  });
  return { ...result, templates };
};

export type Excerpt = ReturnType<typeof excerptOf>;

/** The part of a report that one page shows: templates that match a query, or what does of each. */
export const excerptOf = (report: Report, { show, text }: PageQuery) => {
  // What was applied differs no more.
  const open = report.templates.map(withoutApplied);
  const found = open
    .flatMap((template) => (show === null ? template : partOf(template, show)))
    .flatMap((template) => (text === '' ? template : withText(template, text.toLowerCase())));
  const [calm, groups] = [found.filter(isCalm), groupsOf(found)];
  const shown = groups.slice(0, limits.groups);
  const rows = Math.floor(limits.rows / Math.max(1, shown.length));
  // Named only if somebody asks for them, or there is nothing else to show.
  const isCalmNamed = show === 'in-sync' || text !== '' || groups.length === 0;
  const named = isCalmNamed ? calm.slice(0, limits.calm) : [];
  const problems = report.problems.slice(0, limits.problems);
  return {
    report: {
      ...report,
      templates: [...shown.flat().map((template) => firstOf(template, rows)), ...named],
      problems,
    },
    /** Of all. */
    summary: summaryOf(report),
    /** How many templates or differences there are of each kind, whatever is shown. */
    counts: shows.map(([kind]) =>
      open
        .flatMap((template) => partOf(template, kind))
        .reduce((sum, part) => sum + (part.status === kind ? 1 : part.differences.length), 0),
    ),
    left: {
      groups: groups.length - shown.length,
      problems: report.problems.length - problems.length,
      calm: calm.length - named.length,
    },
  };
};

/** Groups so few that a page has some 100 KB when hundreds of templates differ. */
const limits = { groups: 12, rows: 60, calm: 200, problems: 10 };

/** The first differences of a template and of the subdomains that do not follow it, and how many are left out. */
export const firstOf = (whole: TemplateResult, max: number): ShownTemplate => {
  const few = Math.max(2, Math.floor(max / 10));
  const behind = whole.subdomains.filter((one) => !follows(one));
  const shown = behind.slice(0, 10).map(({ differences, answers, ...one }) => ({
    ...one,
    differences: differences.slice(0, few),
    answers: { ...answers, differences: answers.differences.slice(0, few) },
  }));
  const differences = whole.differences.slice(0, max);
  return {
    ...whole,
    differences,
    subdomains: [...shown, ...whole.subdomains.filter(follows)],
    more: whole.differences.length - differences.length + sizeOf(behind) - sizeOf(shown),
  };
};

const sizeOf = (some: readonly SubdomainResult[]): number =>
  some.reduce((sum, one) => sum + 1 + one.differences.length + one.answers.differences.length, 0);

/** The part of a template that is of this kind, if any. */
const partOf = (template: TemplateResult, show: Show): readonly TemplateResult[] => {
  if (show === 'in-sync') return isCalm(template) ? [template] : [];
  if (show === template.status) return [template];
  const differences = template.differences.filter(
    ({ action, outcome }) =>
      show === action || (show === 'failed' && (outcome === 'failed' || outcome === 'unknown')),
  );
  return differences.length === 0 ? [] : [{ ...template, differences, subdomains: [] }];
};

/** The whole template if its own texts match, else the parts that match. */
const withText = (template: TemplateResult, text: string): readonly TemplateResult[] => {
  const holds = (...values: readonly unknown[]): boolean => wordsIn(values).toLowerCase().includes(text);
  const { client, template: name, file, message } = template;
  if (holds(client, name, file, message)) return [template];
  const differences = template.differences.filter((one) => holds(one));
  const subdomains = template.subdomains.filter((one) => !follows(one) && holds(one.subdomain, one.message));
  return differences.length + subdomains.length === 0 ? [] : [{ ...template, differences, subdomains }];
};

/** All texts in a value, as `A www 192.0.2.1`. */
const wordsIn = (value: unknown): string => {
  if (value === null) return '@';
  if (typeof value === 'object') return Object.values(value).map(wordsIn).join(' ');
  return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
};
