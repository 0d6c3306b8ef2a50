import { hasTrouble } from '../report/answers-view.ts';
import type { Report } from '../report/report.ts';
import type { RecordData } from '../model/record.ts';
import type { TemplateResult } from '../result.ts';
import type { PageQuery, Show } from './query.ts';

type ShownDifference = Report['templates'][number]['differences'][number];

/** The part of a template that matches the query; null if nothing does. */
export const matching = (template: TemplateResult, { show, text }: PageQuery): TemplateResult | null => {
  const chosen = show === null ? template : ofKind(template, show);
  return chosen === null || text === '' ? chosen : withText(chosen, text.toLowerCase());
};

export const isCalm = ({ status, message, differences, subdomains }: TemplateResult): boolean =>
  status === 'in-sync' && message === null && differences.length === 0 && subdomains.every(follows);

/** Whether the subdomain and its name servers are in sync. */
export const follows = ({ status, answers }: TemplateResult['subdomains'][number]): boolean =>
  status === 'in-sync' && !hasTrouble(answers);

/** The number of templates, differences or subdomains of each kind. */
export const countsOf = (templates: readonly TemplateResult[]): Readonly<Record<Show, number>> => {
  const counts = {
    failed: 0,
    held: 0,
    suspended: 0,
    blocked: 0,
    add: 0,
    update: 0,
    park: 0,
    surplus: 0,
    edited: 0,
    drifted: 0,
    subdomains: 0,
    'in-sync': 0,
  };
  for (const template of templates) {
    if (template.status === 'failed') counts.failed += 1;
    if (template.status === 'held' || template.status === 'suspended') counts[template.status] += 1;
    if (isCalm(template)) counts['in-sync'] += 1;
    counts.subdomains += template.subdomains.filter((subdomain) => !follows(subdomain)).length;
    for (const difference of template.differences) {
      counts[difference.action] += 1;
      if (hasCause(difference, 'edited')) counts.edited += 1;
      if (hasCause(difference, 'drifted')) counts.drifted += 1;
      if (template.status !== 'failed' && isFailed(difference)) counts.failed += 1;
    }
  }
  return counts;
};

const ofKind = (template: TemplateResult, show: Show): TemplateResult | null => {
  if (show === 'in-sync') return isCalm(template) ? template : null;
  if (show !== 'drifted' && show === template.status) return template;
  if (show === 'held' || show === 'suspended') return null;
  if (show === 'subdomains')
    return template.subdomains.every(follows) ? null : { ...template, differences: [] };
  const isOne = (difference: ShownDifference): boolean =>
    show === 'failed'
      ? isFailed(difference)
      : show === 'edited' || show === 'drifted'
        ? hasCause(difference, show)
        : difference.action === show;
  const differences = template.differences.filter(isOne);
  return differences.length === 0 ? null : { ...template, differences, subdomains: [] };
};

const hasCause = (difference: ShownDifference, cause: 'edited' | 'drifted'): boolean =>
  'cause' in difference && (difference.cause === cause || difference.cause === 'both');

const isFailed = ({ outcome }: ShownDifference): boolean => outcome === 'failed' || outcome === 'unknown';

/** The whole template if its own texts match, else the parts that match. */
const withText = (template: TemplateResult, text: string): TemplateResult | null => {
  const { client, template: name, file, message } = template;
  if (holds([client, name, file, message], text)) return template;
  const differences = template.differences.filter((one) => holds(textsOf(one), text));
  const subdomains = template.subdomains.filter(
    (one) => !follows(one) && holds([one.subdomain, one.message], text),
  );
  return differences.length + subdomains.length === 0 ? null : { ...template, differences, subdomains };
};

const holds = (texts: readonly (string | null | undefined)[], text: string): boolean =>
  texts.some((one) => one?.toLowerCase().includes(text));

const textsOf = (difference: ShownDifference): (string | null | undefined)[] => [
  ...('current' in difference ? wordsOf(difference.current) : []),
  ...('desired' in difference ? wordsOf(difference.desired) : []),
  ...('reason' in difference ? [difference.reason] : []),
  ...('message' in difference ? [difference.message] : []),
  ...('source' in difference ? [`${difference.source.file}:${difference.source.line}`] : []),
  ...('recordId' in difference ? [`record ${difference.recordId}`] : []),
  difference.error,
];

const wordsOf = (record: RecordData | undefined): string[] =>
  record === undefined ? [] : [`${record.type} ${record.name ?? '@'} ${record.content}`];
