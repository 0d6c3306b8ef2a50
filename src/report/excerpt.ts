import { hasTrouble } from './answers-view.ts';
import { statuses, type SubdomainResult, type TemplateResult } from '../result.ts';
import type { Report } from './report.ts';

/** What of a report is shown on one page, however much it holds. */
export interface Excerpt {
  /** Status and counts of the whole; the worst of its templates, and of each the first differences. */
  readonly report: Report;
  /** What is left out of each template of `report`, in the same order. */
  readonly more: readonly LeftOut[];
  readonly moreDiffering: number;
  readonly moreInSync: number;
  readonly moreProblems: number;
}

interface LeftOut {
  readonly differences: number;
  readonly subdomains: number;
  /** In the subdomains that are shown. */
  readonly subdomainDifferences: number;
}

/** What was applied differs no more, and is left out too. */
export const excerptOf = (report: Report): Excerpt => {
  const open = report.templates.map(withoutApplied);
  const differing = open.filter((template) => !isCalm(template)).sort(worstFirst);
  const calm = open.filter(isCalm);
  const rows = Math.min(most.rowsOfOne, Math.floor(most.rows / Math.min(most.differing, differing.length)));
  const whole = [...differing.slice(0, most.differing), ...calm.slice(0, most.inSync)];
  const templates = whole.map((template) => cut(template, rows));
  return {
    report: { ...report, templates, problems: report.problems.slice(0, most.problems) },
    more: templates.map((template, index) => leftOut(template, whole[index] ?? template)),
    moreDiffering: Math.max(0, differing.length - most.differing),
    moreInSync: Math.max(0, calm.length - most.inSync),
    moreProblems: Math.max(0, report.problems.length - most.problems),
  };
};

const most = { differing: 100, rows: 600, rowsOfOne: 25, subdomains: 10, inSync: 300, problems: 50 };

const withoutApplied = (template: TemplateResult): TemplateResult => ({
  ...template,
  differences: template.differences.filter(({ outcome }) => outcome !== 'applied'),
});

const isCalm = ({ status, message, differences, subdomains }: TemplateResult): boolean =>
  status === 'in-sync' && message === null && differences.length === 0 && subdomains.every(follows);

const follows = ({ status, answers }: SubdomainResult): boolean =>
  status === 'in-sync' && !hasTrouble(answers);

const worstFirst = (one: TemplateResult, other: TemplateResult): number =>
  statuses.indexOf(other.status) - statuses.indexOf(one.status);

const cut = (template: TemplateResult, rows: number): TemplateResult => {
  const behind = template.subdomains.filter((subdomain) => !follows(subdomain)).slice(0, most.subdomains);
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

const leftOut = (shown: TemplateResult, whole: TemplateResult): LeftOut => {
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
