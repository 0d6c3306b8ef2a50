import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { canonicalName } from '../model/canonical.ts';
import { isHostLabel, nameLabelsOf } from '../model/host.ts';
import { hasPlaceholder } from '../model/placeholder.ts';
import { kindOf } from '../plan/conflict.ts';
import { withoutFinalDot } from '../model/glob.ts';
import { groupBy } from '../model/group.ts';
import { tooMuch } from './budget.ts';
import type { CheckId } from './check-id.ts';
import type { ResolvedRule } from './ignore-rule.ts';
import type { Part } from './includes.ts';
import { nameChecks } from './name-checks.ts';
import { quote } from './problem.ts';
import { recordChecksOf, unusualTtl, type CheckedTemplate } from './record-checks.ts';
import { isLonger, placeIn, type ResolvedRecord } from './record.ts';

/** A template as its own document and its fragments describe it. */
export interface TemplateContent {
  readonly name: string | null;
  readonly ttl: number | null;
  readonly subdomains: readonly { readonly text: string; readonly at: number }[];
  readonly rules: readonly ResolvedRule[];
  readonly records: readonly ResolvedRecord[];
  readonly own: Part;
}

/** Runs every check over a template. A check does not see records that switch it off. */
export const checkTemplate = async (content: TemplateContent): Promise<void> => {
  const { records, rules, own, ttl, subdomains } = content;
  const unusual = ttl === null ? null : unusualTtl(ttl);
  if (unusual !== null) own.report('ttl-unusual', own.document.fields.get('ttl')!.at, unusual);
  for (const { text, at } of subdomains)
    if (!isHostName(text))
      own.report('subdomain-name', at, `${quote(text)} under \`subdomains\` is not a host name`);
  const patterns = rules.filter(({ rule }) => `${rule.name}${rule.content}`.includes('*')).length;
  // Each pattern is compared with each record.
  if (!own.budget.spend((patterns * records.length) / 250)) {
    own.report('unreadable', own.document.at, tooMuch);
    return;
  }
  const template = templateOf(content);
  for (const record of records) {
    if (isYieldDue()) await yieldToOthers();
    for (const { id, place, find } of recordChecksOf(record.desired.type)) {
      const message = find(record, template);
      if (message !== null && !record.allow.has(id)) record.part.report(id, placeIn(record, place), message);
    }
  }
  for (const ofName of groupBy(records, ({ canonical }) => canonical.name).values()) {
    if (ofName.length < 2) continue;
    if (isYieldDue()) await yieldToOthers();
    for (const { id, find } of nameChecks)
      for (const { record, at, message } of find(withCheck(id, ofName))) record.part.report(id, at, message);
  }
};

const templateOf = ({ name, subdomains, rules, records }: TemplateContent): CheckedTemplate => {
  const zones = subdomains.map(({ text }) => withoutFinalDot(canonicalName(text)));
  const parents = zones.map((zone) => zone.slice(zone.indexOf('.') + 1));
  const isAlias = ({ desired, canonical, allow }: ResolvedRecord): boolean =>
    desired.name !== null && kindOf(canonical) === 'CNAME' && !allow.has('target-is-cname');
  return {
    rules,
    ignore: rules.map(({ rule }) => rule),
    zones: new Set(zones),
    domains: new Set(
      [...(name === null ? [] : [withoutFinalDot(canonicalName(name))]), ...parents].filter(isDomain),
    ),
    aliases: new Map(records.filter(isAlias).map((record) => [record.canonical.name, record])),
  };
};

/** Two labels at least. `v1.2` is none. */
const isDomain = (name: string): boolean =>
  name.includes('.') && !hasPlaceholder(name) && isHostName(name) && /\.[a-z][a-z0-9-]+$/.test(name);

const isHostName = (text: string): boolean => {
  const name = canonicalName(text);
  const labels = nameLabelsOf(name);
  return (
    hasPlaceholder(text) ||
    (!isLonger(name, 253) && labels.every((label) => isHostLabel(label) && !isLonger(label, 63)))
  );
};

const withCheck = (id: CheckId, records: readonly ResolvedRecord[]): readonly ResolvedRecord[] =>
  records.some(({ allow }) => allow.has(id)) ? records.filter(({ allow }) => !allow.has(id)) : records;
