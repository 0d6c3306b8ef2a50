import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { canonicalName } from '../model/canonical.ts';
import { isHostLabel, nameLabelsOf } from '../model/host.ts';
import { hasPlaceholder } from '../model/placeholder.ts';
import { textKind } from '../model/text.ts';
import { kindOf } from '../plan/conflict.ts';
import { withoutFinalDot } from '../model/glob.ts';
import { groupBy } from '../model/group.ts';
import type { CheckId } from './check-id.ts';
import type { Part } from './part.ts';
import { quote, shownPlace } from './problem.ts';
import { checkRecord, isLonger, tell, type CheckedTemplate } from './record-checks.ts';
import type { ResolvedRecord, ResolvedRule } from './record.ts';

/** A template as its own document and its fragments describe it. */
export interface TemplateContent {
  readonly name: string | null;
  readonly subdomains: readonly { readonly value: string; readonly at: number }[];
  readonly rules: readonly ResolvedRule[];
  readonly records: readonly ResolvedRecord[];
  /** Its own document, and where that begins. */
  readonly own: Part;
  readonly at: number;
}

/** Runs every check over a template. */
export const checkTemplate = async (content: TemplateContent): Promise<void> => {
  const { records, rules, own, at: begin, subdomains } = content;
  for (const { value: text, at } of subdomains)
    if (!isHostName(text))
      own.report('subdomain-name', at, `${quote(text)} under \`subdomains\` is not a host name`);
  const patterns = rules.filter(({ rule }) => `${rule.name}${rule.content}`.includes('*')).length;
  // Each pattern is compared with each record.
  if (!own.ledger.spend(patterns * records.length * 0.4, own, begin)) return;
  const template = templateOf(content);
  for (const record of records) {
    if (isYieldDue()) await yieldToOthers();
    checkRecord(record, template);
  }
  for (const ofName of groupBy(records, ({ canonical }) => canonical.name).values()) {
    if (ofName.length < 2) continue;
    if (isYieldDue()) await yieldToOthers();
    checkSameName(ofName);
  }
};

const templateOf = ({ name, subdomains, rules, records }: TemplateContent): CheckedTemplate => {
  const zones = subdomains.map(({ value }) => withoutFinalDot(canonicalName(value)));
  const parents = zones.map((zone) => zone.slice(zone.indexOf('.') + 1));
  const own = name === null ? [] : [withoutFinalDot(canonicalName(name))];
  const isAlias = ({ desired, canonical, allow }: ResolvedRecord): boolean =>
    desired.name !== null && kindOf(canonical) === 'CNAME' && !allow.has('target-is-cname');
  return {
    rules,
    ignore: rules.map(({ rule }) => rule),
    zones: new Set(zones),
    domains: new Set([...own, ...parents].filter(isDomain)),
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

/** A mistake that a record has together with another one of its name. */
interface SharedMistake {
  readonly id: CheckId;
  readonly at: 'record' | 'content' | 'ttl';
  /** Records with the same key are held against each other; null: against none. */
  readonly keyOf: (record: ResolvedRecord) => string | null;
  /** Which one of them all others are held against; default: the first one. */
  readonly isRival?: (record: ResolvedRecord) => boolean;
  /** What a record has wrong beside the rival, if anything. `there`: the place of that. */
  readonly find: (record: ResolvedRecord, rival: ResolvedRecord, there: string) => string | null;
}

const sharedMistakes: readonly SharedMistake[] = [
  {
    id: 'cname-alone',
    at: 'record',
    keyOf: () => '',
    isRival: (record) => kindOf(record.canonical) !== 'CNAME',
    find: (record, rival, there) =>
      // If a CNAME is allowed beside NS and SOA, it is allowed beside others too: the service flattens it there.
      kindOf(record.canonical) === 'CNAME' &&
      (record.desired.name !== null || !record.allow.has('cname-apex'))
        ? `a CNAME must be alone at its name, but at ${shownName(record)} there is also ${rival.desired.type} (${there})`
        : null,
  },
  {
    id: 'null-mx-alone',
    at: 'record',
    keyOf: ({ canonical }) => (canonical.type === 'MX' ? '' : null),
    isRival: (record) => kindOf(record.canonical) === 'MX',
    find: (record, _, there) =>
      kindOf(record.canonical) === 'null MX'
        ? `an MX \`.\` means that there is no mail here, but at ${shownName(record)} there is also MX (${there})`
        : null,
  },
  {
    id: 'kind-twice',
    at: 'content',
    keyOf: ({ canonical: { type, name, content } }) => (type === 'TXT' ? textKind(name, content) : null),
    find: (record, _, there) => {
      const kind = textKind(record.canonical.name, record.canonical.content);
      return `a second ${kind} text at ${shownName(record)}: keep one of them (the first: ${there})`;
    },
  },
  {
    id: 'mixed-ttl',
    at: 'ttl',
    keyOf: ({ desired }) => (desired.ttl === null ? null : desired.type),
    find: ({ desired: { ttl } }, { desired: first }, there) =>
      ttl === first.ttl ? null : `the TTLs of one record set differ: ${ttl} here, ${first.ttl} at ${there}`,
  },
];

/** What records of one name have wrong together. No check sees those that switch it off. */
const checkSameName = (all: readonly ResolvedRecord[]): void => {
  for (const { id, at, keyOf, isRival, find } of sharedMistakes) {
    const seen = all.filter((record) => !record.allow.has(id));
    for (const [key, group] of groupBy(seen, keyOf)) {
      if (key === null || group.length < 2) continue;
      const rival = (isRival && group.find(isRival)) ?? group[0]!;
      const there = shownPlace(rival.desired.source);
      for (const record of group)
        if (dataOf(record) !== dataOf(rival)) tell(record, id, at, find(record, rival, there));
    }
  }
  for (const [first, ...copies] of groupBy(all, dataOf).values())
    for (const record of copies) {
      const message = `this ${record.desired.type} record is listed twice, also at ${shownPlace(first!.desired.source)}`;
      tell(record, 'duplicate-record', 'record', message);
    }
};

const dataOf = ({ canonical: { type, content, priority } }: ResolvedRecord): string =>
  `${type} ${priority} ${content}`;

/** The name in a message, as people write it. */
const shownName = ({ canonical }: ResolvedRecord): string => quote(canonical.name || '@');
