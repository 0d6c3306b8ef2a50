import type { Report } from '../report/report.ts';
import { follows, summaryOf } from '../report/view.ts';
import { groupAlike, worstFirst } from '../report/worst-first.ts';
import { withoutApplied, type TemplateResult } from '../result.ts';
import { shows, type PageQuery, type Show, templateAddress } from './query.ts';

/** The part of a report that one page shows. */
export type Excerpt = ReturnType<typeof excerptOf>;

export const excerptOf = (report: Report, query: PageQuery) => {
  const open = report.templates.map(withoutApplied);
  const found = open.flatMap((template) => matching(template, query) ?? []);
  const groups = groupAlike(worstFirst(found.filter((template) => !isCalm(template))), bareWords);
  const shown = groups.slice(query.skip, query.skip + limits.groups);
  const calm = found.filter(isCalm);
  const rows = Math.floor(limits.rows / Math.max(1, shown.length));
  const namesakes = groupAlike(open, ({ template }) => template).filter(({ length }) => length > 1);
  const ambiguous = new Set(namesakes.map(([first]) => first?.template));
  const show = (template: TemplateResult): ShownTemplate =>
    cut(template, rows, ambiguous.has(template.template));
  const isQuiet = groups.length === 0 && calm.length <= limits.quiet;
  const areCalmShown = query.show === 'in-sync' || query.text !== '' || isQuiet;
  // Only the list of templates in sync has several pages.
  const from = query.show === 'in-sync' ? query.skip : 0;
  const layers = layersOf(found);
  return {
    /** Of the whole report. */
    summary: summaryOf(report),
    /** Without its templates, and with the first of its other lists only. */
    report: {
      ...report,
      templates: [],
      problems: report.problems.slice(0, limits.problems),
      unmanaged: report.unmanaged.slice(0, limits.unmanaged),
    },
    hasSeveralClients:
      new Set([...open, ...report.problems, ...report.unmanaged].map(({ client }) => client)).size > 1,
    /** Templates, differences or subdomains of each kind. */
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each kind is there
    counts: Object.fromEntries(shows.map(([kind]) => [kind, countIn(open, kind)])) as Record<Show, number>,
    /** What differs, the worst first: templates, or groups of templates with the same message. */
    groups: shown.map((group) => ({
      templates: group.slice(0, limits.alike).map(show),
      count: group.length,
    })),
    groupCount: groups.length,
    calm: areCalmShown ? calm.slice(from, from + limits.calm).map(show) : [],
    calmCount: calm.length,
    moreUnmanaged: Math.max(0, report.unmanaged.length - limits.unmanaged),
    moreProblems: Math.max(0, report.problems.length - limits.problems),
    /** Subdomains whose name servers were asked. */
    layers: layers.slice(0, limits.layers),
    moreLayers: Math.max(0, layers.length - limits.layers),
  };
};

const limits = {
  /** So few that a page has some 100 KB when hundreds of templates differ. */
  groups: 12,
  rows: 60,
  subdomains: 10,
  alike: 200,
  calm: 200,
  /** Templates in sync are named if there are no more than these and nothing differs. */
  quiet: 60,
  problems: 50,
  unmanaged: 100,
  layers: 100,
};

/** Groups on one page. */
export const pageLength = limits.groups;

/** The key of a template that has only a message. */
const bareWords = ({ status, message, differences, subdomains }: TemplateResult): string | null =>
  message !== null && differences.length + subdomains.length === 0 ? `${status} ${message}` : null;

export interface ShownTemplate {
  readonly template: TemplateResult;
  /** The address of its own page. */
  readonly href: string;
  /** How many of its differences are not shown, those of its subdomains among them. */
  readonly more: number;
}

/** The first differences, and the first subdomains that do not follow. */
export const cut = (whole: TemplateResult, rows: number, isAmbiguous: boolean): ShownTemplate => {
  const behind = whole.subdomains.filter((one) => !follows(one)).slice(0, limits.subdomains);
  const share = Math.max(2, Math.floor(rows / Math.max(1, behind.length)));
  const template = {
    ...whole,
    differences: whole.differences.slice(0, rows),
    subdomains: [
      ...behind.map(({ answers, differences, ...one }) => ({
        ...one,
        differences: differences.slice(0, share),
        answers: { ...answers, differences: answers.differences.slice(0, share) },
      })),
      ...whole.subdomains.filter(follows),
    ],
  };
  return {
    template,
    href: templateAddress(whole.template, isAmbiguous ? whole.client : null),
    more: differencesIn(whole) - differencesIn(template),
  };
};

const differencesIn = ({ differences, subdomains }: TemplateResult): number =>
  subdomains.reduce(
    (sum, one) => sum + one.differences.length + one.answers.differences.length,
    differences.length,
  );

/** Those with differences come first. */
const layersOf = (templates: readonly TemplateResult[]) =>
  templates
    .flatMap((template) =>
      template.subdomains.flatMap((subdomain) =>
        subdomain.answers.status === 'off' ? [] : { template, subdomain },
      ),
    )
    .toSorted((one, other) => Number(follows(one.subdomain)) - Number(follows(other.subdomain)));

/** The part of a template that matches the query; null if nothing does. */
const matching = (template: TemplateResult, { show, text }: PageQuery): TemplateResult | null => {
  const chosen = show === null ? template : ofKind(template, show);
  return chosen === null || text === '' ? chosen : withText(chosen, text.toLowerCase());
};

const countIn = (templates: readonly TemplateResult[], show: Show): number =>
  templates.reduce((sum, template) => {
    const part = ofKind(template, show);
    if (part === null) return sum;
    if (show === 'subdomains') return sum + part.subdomains.filter((one) => !follows(one)).length;
    const isWhole = show === 'in-sync' || (show !== 'drifted' && show === part.status);
    return sum + (isWhole ? 1 : part.differences.length);
  }, 0);

const ofKind = (template: TemplateResult, show: Show): TemplateResult | null => {
  if (show === 'in-sync') return isCalm(template) ? template : null;
  if (show === 'subdomains')
    return template.subdomains.every(follows) ? null : { ...template, differences: [] };
  if (show !== 'drifted' && show === template.status) return template;
  const differences = template.differences.filter((one) => {
    if (show === 'failed') return one.outcome === 'failed' || one.outcome === 'unknown';
    const cause = 'cause' in one ? one.cause : null;
    const isBoth = cause === 'both' && (show === 'edited' || show === 'drifted');
    return one.action === show || cause === show || isBoth;
  });
  return differences.length === 0 ? null : { ...template, differences, subdomains: [] };
};

const isCalm = ({ status, message, differences, subdomains }: TemplateResult): boolean =>
  status === 'in-sync' && message === null && differences.length === 0 && subdomains.every(follows);

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
