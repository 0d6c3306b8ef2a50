import { groupAlike, worstFirst } from '../report/worst-first.ts';
import type { Report } from '../report/report.ts';
import { summaryOf } from '../report/view.ts';
import { withoutApplied, type SubdomainResult, type TemplateResult } from '../result.ts';
import { type LayerFacts, layersOf } from './layer-facts.ts';
import { countsOf, follows, isCalm, matching } from './matches.ts';
import { type PageQuery, type Show, templateAddress } from './query.ts';

/** The part of a report that one page shows. */
export interface Excerpt {
  /** The report without its templates, and with the first of its other lists only. */
  readonly report: Report;
  /** The summary of the whole report. */
  readonly summary: string;
  readonly hasSeveralClients: boolean;
  readonly counts: Readonly<Record<Show, number>>;
  /** What differs, the worst first: templates, or groups of templates with the same message. */
  readonly groups: readonly ShownGroup[];
  /** The number of all groups, shown or not. */
  readonly groupCount: number;
  readonly calm: readonly ShownTemplate[];
  readonly calmCount: number;
  readonly moreProblems: number;
  readonly moreUnmanaged: number;
  readonly layers: readonly LayerFacts[];
  readonly moreLayers: number;
}

interface ShownGroup {
  readonly templates: readonly ShownTemplate[];
  readonly count: number;
}

export interface ShownTemplate {
  readonly template: TemplateResult;
  /** The address of its own page. */
  readonly href: string;
  readonly more: LeftOut;
}

/** How much of a template is not shown. */
interface LeftOut {
  readonly differences: number;
  readonly subdomains: number;
  /** In the shown subdomains. */
  readonly subdomainDifferences: number;
}

export const excerptOf = (report: Report, query: PageQuery): Excerpt => {
  const open = report.templates.map(withoutApplied);
  const found = open.flatMap((template) => matching(template, query) ?? []);
  const groups = groupAlike(worstFirst(found.filter((template) => !isCalm(template))), bareWords);
  const shown = groups.slice(query.skip, query.skip + limits.groups);
  const calm = found.filter(isCalm);
  const rows = Math.min(limits.rowsOfOne, Math.floor(limits.rows / Math.max(1, shown.length)));
  const show = showWith(rows, ambiguousIn(open));
  const isQuiet = groups.length === 0 && calm.length <= limits.quiet;
  const areCalmShown = query.show === 'in-sync' || query.text !== '' || isQuiet;
  return {
    summary: summaryOf(report),
    report: {
      ...report,
      templates: [],
      problems: report.problems.slice(0, limits.problems),
      unmanaged: report.unmanaged.slice(0, limits.unmanaged),
    },
    hasSeveralClients:
      new Set([...open, ...report.problems, ...report.unmanaged].map(({ client }) => client)).size > 1,
    counts: countsOf(open),
    groups: shown.map((group) => ({
      templates: group.slice(0, limits.alike).map(show),
      count: group.length,
    })),
    groupCount: groups.length,
    calm: areCalmShown ? calm.slice(calmFrom(query), calmFrom(query) + limits.calm).map(show) : [],
    calmCount: calm.length,
    moreUnmanaged: Math.max(0, report.unmanaged.length - limits.unmanaged),
    moreProblems: Math.max(0, report.problems.length - limits.problems),
    ...layersOf(found),
  };
};

export const limits = {
  groups: 40,
  rows: 240,
  rowsOfOne: 100,
  subdomains: 10,
  alike: 200,
  calm: 200,
  /** Templates in sync are named if there are no more than these and nothing differs. */
  quiet: 60,
  problems: 50,
  unmanaged: 100,
};

/** Only the list of templates in sync has several pages. */
const calmFrom = ({ show, skip }: PageQuery): number => (show === 'in-sync' ? skip : 0);

/** The key of a template that has only a message. */
const bareWords = ({ status, message, differences, subdomains }: TemplateResult): string | null =>
  message !== null && differences.length + subdomains.length === 0 ? `${status} ${message}` : null;

/** Template names that several clients use. */
const ambiguousIn = (templates: readonly TemplateResult[]): ReadonlySet<string> => {
  const clients = new Map<string, string>();
  return new Set(
    templates.flatMap(({ template, client }) => {
      const first = clients.get(template) ?? client;
      clients.set(template, first);
      return first === client ? [] : [template];
    }),
  );
};

const showWith =
  (rows: number, ambiguous: ReadonlySet<string>) =>
  (whole: TemplateResult): ShownTemplate => {
    const template = cut(whole, rows);
    return {
      template,
      href: templateAddress(whole.template, ambiguous.has(whole.template) ? whole.client : null),
      more: leftOut(template, whole),
    };
  };

/** The first differences, and the first subdomains that do not follow. */
export const cut = (template: TemplateResult, rows: number): TemplateResult => {
  const behind = template.subdomains.filter((subdomain) => !follows(subdomain)).slice(0, limits.subdomains);
  const share = Math.max(2, Math.floor(rows / Math.max(1, behind.length)));
  return {
    ...template,
    differences: template.differences.slice(0, rows),
    subdomains: [
      ...behind.map((one) => ({
        ...one,
        differences: one.differences.slice(0, share),
        answers: { ...one.answers, differences: one.answers.differences.slice(0, share) },
      })),
      ...template.subdomains.filter(follows),
    ],
  };
};

export const leftOut = (shown: TemplateResult, whole: TemplateResult): LeftOut => {
  const names = new Set(shown.subdomains.map(({ subdomain }) => subdomain));
  const same = whole.subdomains.filter(({ subdomain }) => names.has(subdomain));
  return {
    differences: whole.differences.length - shown.differences.length,
    subdomains: whole.subdomains.length - shown.subdomains.length,
    subdomainDifferences: differencesIn(same) - differencesIn(shown.subdomains),
  };
};

const differencesIn = (subdomains: readonly SubdomainResult[]): number =>
  subdomains.reduce(
    (sum, { differences, answers }) => sum + differences.length + answers.differences.length,
    0,
  );
