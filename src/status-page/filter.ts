import { hasTrouble } from '../report/answers-view.ts';
import type { TemplateResult } from '../result.ts';
import { shows, type PageQuery, type Show } from './query.ts';

type Difference = TemplateResult['differences'][number];

/** The part of a template that matches the query; null if nothing does. */
export const matching = (
  template: TemplateResult,
  { show, text }: Pick<PageQuery, 'show' | 'text'>,
): TemplateResult | null => {
  const chosen = show === null ? template : ofKind(template, show);
  return chosen === null || text === '' ? chosen : withText(chosen, text.toLowerCase());
};

/** The number of templates, differences or subdomains of each kind. */
export const countsOf = (templates: readonly TemplateResult[]): Readonly<Record<Show, number>> => {
  const count = (show: Show): number =>
    templates.reduce((sum, template) => sum + countOf(ofKind(template, show), show), 0);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each kind is there
  return Object.fromEntries(shows.map(([show]) => [show, count(show)])) as Record<Show, number>;
};

const countOf = (part: TemplateResult | null, show: Show): number => {
  if (part === null) return 0;
  if (show === 'subdomains') return part.subdomains.filter((one) => !follows(one)).length;
  const areTemplates = show === 'in-sync' || (show !== 'drifted' && show === part.status);
  return areTemplates ? 1 : part.differences.length;
};

const ofKind = (template: TemplateResult, show: Show): TemplateResult | null => {
  if (show === 'in-sync') return isCalm(template) ? template : null;
  if (show === 'subdomains')
    return template.subdomains.every(follows) ? null : { ...template, differences: [] };
  if (show !== 'drifted' && show === template.status) return template;
  const differences = template.differences.filter((one) => isOf(one, show));
  return differences.length === 0 ? null : { ...template, differences, subdomains: [] };
};

const isOf = (difference: Difference, show: Show): boolean => {
  const { action, outcome } = difference;
  if (show === 'failed') return outcome === 'failed' || outcome === 'unknown';
  const cause = 'cause' in difference ? difference.cause : null;
  return action === show || cause === show || (cause === 'both' && (show === 'edited' || show === 'drifted'));
};

export const isCalm = ({ status, message, differences, subdomains }: TemplateResult): boolean =>
  status === 'in-sync' && message === null && differences.length === 0 && subdomains.every(follows);

/** Whether the subdomain and its name servers are in sync. */
export const follows = ({ status, answers }: TemplateResult['subdomains'][number]): boolean =>
  status === 'in-sync' && !hasTrouble(answers);

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
