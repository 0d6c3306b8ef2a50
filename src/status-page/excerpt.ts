import { groupAlike, worstFirst } from '../report/worst-first.ts';
import type { Report } from '../report/report.ts';
import { summaryOf } from '../report/view.ts';
import { withoutApplied, type SubdomainResult, type TemplateResult } from '../result.ts';
import { countsOf, follows, isCalm, matching } from './filter.ts';
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
  readonly layers: readonly Layers[];
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
  /** How many of its differences are not shown, those of its subdomains among them. */
  readonly more: number;
}

/** A subdomain whose name servers were asked, from file to name servers. */
export interface Layers {
  readonly template: Pick<TemplateResult, 'template' | 'status' | 'differences'>;
  readonly subdomain: SubdomainResult;
}

export const excerptOf = (report: Report, query: PageQuery): Excerpt => {
  const open = report.templates.map(withoutApplied);
  const found = open.flatMap((template) => matching(template, query) ?? []);
  const groups = groupAlike(worstFirst(found.filter((template) => !isCalm(template))), bareWords);
  const shown = groups.slice(query.skip, query.skip + limits.groups);
  const calm = found.filter(isCalm);
  const rows = Math.floor(limits.rows / Math.max(1, shown.length));
  const ambiguous = ambiguousIn(open);
  const show = (template: TemplateResult): ShownTemplate =>
    cut(template, rows, ambiguous.has(template.template));
  const isQuiet = groups.length === 0 && calm.length <= limits.quiet;
  const areCalmShown = query.show === 'in-sync' || query.text !== '' || isQuiet;
  // Only the list of templates in sync has several pages.
  const from = query.show === 'in-sync' ? query.skip : 0;
  const layers = layersOf(found);
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
    calm: areCalmShown ? calm.slice(from, from + limits.calm).map(show) : [],
    calmCount: calm.length,
    moreUnmanaged: Math.max(0, report.unmanaged.length - limits.unmanaged),
    moreProblems: Math.max(0, report.problems.length - limits.problems),
    layers: layers.slice(0, limits.layers),
    moreLayers: Math.max(0, layers.length - limits.layers),
  };
};

export const limits = {
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

/** The key of a template that has only a message. */
const bareWords = ({ status, message, differences, subdomains }: TemplateResult): string | null =>
  message !== null && differences.length + subdomains.length === 0 ? `${status} ${message}` : null;

/** Template names that several clients use. */
const ambiguousIn = (templates: readonly TemplateResult[]): ReadonlySet<string> => {
  const clients = new Map<string, string>();
  for (const { template, client } of templates) if (!clients.has(template)) clients.set(template, client);
  const twice = templates.filter(({ template, client }) => clients.get(template) !== client);
  return new Set(twice.map(({ template }) => template));
};

/** The first differences, and the first subdomains that do not follow. */
export const cut = (whole: TemplateResult, rows: number, isAmbiguous: boolean): ShownTemplate => {
  const behind = whole.subdomains.filter((subdomain) => !follows(subdomain));
  const shown = behind.slice(0, limits.subdomains);
  const share = Math.max(2, Math.floor(rows / Math.max(1, shown.length)));
  const template = {
    ...whole,
    differences: whole.differences.slice(0, rows),
    subdomains: [
      ...shown.map((one) => ({
        ...one,
        differences: one.differences.slice(0, share),
        answers: { ...one.answers, differences: one.answers.differences.slice(0, share) },
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
const layersOf = (templates: readonly TemplateResult[]): readonly Layers[] => {
  const all = templates.flatMap((template) =>
    template.subdomains.flatMap((subdomain) =>
      subdomain.answers.status === 'off' ? [] : { template, subdomain },
    ),
  );
  return [
    ...all.filter(({ subdomain }) => !follows(subdomain)),
    ...all.filter(({ subdomain }) => follows(subdomain)),
  ];
};
