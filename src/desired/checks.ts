import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { canonicalName } from '../model/canonical.ts';
import { isHostLabel, nameLabelsOf } from '../model/host.ts';
import { hasPlaceholder } from '../model/placeholder.ts';
import { textKind } from '../model/text.ts';
import { kindOf } from '../plan/conflict.ts';
import { withoutFinalDot } from '../model/glob.ts';
import { groupBy } from '../model/group.ts';
import type { CheckId } from './check-id.ts';
import { tooMuch, type Part } from './part.ts';
import { quote, shownPlace } from './problem.ts';
import { checkRecord, isLonger, tell, unusualTtl, type CheckedTemplate } from './record-checks.ts';
import type { ResolvedRecord, ResolvedRule } from './record.ts';

/** A template as its own document and its fragments describe it. */
export interface TemplateContent {
  readonly name: string | null;
  readonly ttl: number | null;
  readonly subdomains: readonly { readonly value: string; readonly at: number }[];
  readonly rules: readonly ResolvedRule[];
  readonly records: readonly ResolvedRecord[];
  /** Its own document, where that begins, and where its TTL stands. */
  readonly own: Part;
  readonly at: number;
  readonly ttlAt: number | undefined;
}

/** Runs every check over a template. */
export const checkTemplate = async (content: TemplateContent): Promise<void> => {
  const { records, rules, own, at: begin, ttl, ttlAt, subdomains } = content;
  const unusual = ttl === null ? null : unusualTtl(ttl);
  if (unusual !== null) own.report('ttl-unusual', ttlAt ?? begin, unusual);
  for (const { value: text, at } of subdomains)
    if (!isHostName(text))
      own.report('subdomain-name', at, `${quote(text)} under \`subdomains\` is not a host name`);
  const patterns = rules.filter(({ rule }) => `${rule.name}${rule.content}`.includes('*')).length;
  // Each pattern is compared with each record.
  if (!own.ledger.spend(patterns * records.length * 0.4)) {
    own.report('unreadable', begin, tooMuch);
    return;
  }
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

/** What records of one name have wrong together. No check sees those that switch it off. */
const checkSameName = (all: readonly ResolvedRecord[]): void => {
  const seenBy = (id: CheckId): readonly ResolvedRecord[] =>
    all.some(({ allow }) => allow.has(id)) ? all.filter(({ allow }) => !allow.has(id)) : all;
  const [ofAlias, ofMail] = [seenBy('cname-alone'), seenBy('null-mx-alone')];
  const other = ofAlias.find((record) => kindOf(record.canonical) !== 'CNAME');
  // If a CNAME is allowed beside NS and SOA, it is allowed beside others too: the service flattens it there.
  const isAllowed = ({ desired, allow }: ResolvedRecord): boolean =>
    desired.name === null && allow.has('cname-apex');
  const aliases = ofKind('CNAME', ofAlias).filter((record) => !isAllowed(record));
  tellBeside('cname-alone', aliases, other, 'a CNAME must be alone at its name');
  const [nullMx, mx] = [ofKind('null MX', ofMail), ofKind('MX', ofMail)];
  tellBeside('null-mx-alone', nullMx, mx[0], 'an MX `.` means that there is no mail here');
  checkKinds(seenBy('kind-twice'));
  for (const set of groupBy(seenBy('mixed-ttl'), ({ desired }) => desired.type).values()) {
    const [first, ...others] = set.filter(({ desired }) => desired.ttl !== null);
    for (const record of others) {
      const ttls = `${record.desired.ttl} here, ${first!.desired.ttl} at ${shownPlace(first!.desired.source)}`;
      const isOther = record.desired.ttl !== first!.desired.ttl;
      tell(record, 'mixed-ttl', 'ttl', isOther ? `the TTLs of one record set differ: ${ttls}` : null);
    }
  }
  for (const [first, ...copies] of groupBy(all, dataOf).values())
    for (const record of copies) {
      const message = `this ${record.desired.type} record is listed twice, also at ${shownPlace(first!.desired.source)}`;
      tell(record, 'duplicate-record', 'record', message);
    }
};

const ofKind = (kind: string, records: readonly ResolvedRecord[]): readonly ResolvedRecord[] =>
  records.filter(({ canonical }) => kindOf(canonical) === kind);

/** For each record that must be alone, names another record, or the first of several of its kind. */
const tellBeside = (
  id: CheckId,
  alone: readonly ResolvedRecord[],
  other: ResolvedRecord | undefined,
  rule: string,
): void => {
  for (const record of alone) {
    const rival = other ?? alone[0]!;
    // Another check reports copies.
    if (dataOf(rival) === dataOf(record)) continue;
    const what = `there is also ${rival.desired.type} (${shownPlace(rival.desired.source)})`;
    tell(record, id, 'record', `${rule}, but at ${shownName(record)} ${what}`);
  }
};

/** What a name can have but one text of, and what two of them do. */
const checkKinds = (records: readonly ResolvedRecord[]): void => {
  const texts = records.filter(({ desired }) => desired.type === 'TXT');
  if (texts.length < 2) return;
  const kinds = groupBy(texts, ({ canonical }) => textKind(canonical.name, canonical.content));
  for (const [kind, [first, ...others]] of kinds)
    for (const record of kind === null ? [] : others) {
      if (dataOf(first!) === dataOf(record)) continue;
      const message = `a second ${kind} text at ${shownName(record)}: keep one of them (the first: ${shownPlace(first!.desired.source)})`;
      tell(record, 'kind-twice', 'content', message);
    }
};

const dataOf = ({ canonical: { type, content, priority } }: ResolvedRecord): string =>
  `${type} ${priority} ${content}`;

/** The name in a message, as people write it. */
const shownName = ({ canonical }: ResolvedRecord): string => quote(canonical.name || '@');
