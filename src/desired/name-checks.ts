import { textKind } from '../model/text.ts';
import { kindOf } from '../plan/conflict.ts';
import { groupBy } from '../model/group.ts';
import type { CheckId } from './check-id.ts';
import { quote } from './problem.ts';
import { placeIn, placeOf, type ResolvedRecord } from './record.ts';

/** Checks all records of one name together. */
interface NameCheck {
  readonly id: CheckId;
  readonly find: (records: readonly ResolvedRecord[]) => readonly Found[];
}

interface Found {
  readonly record: ResolvedRecord;
  readonly at: number;
  readonly message: string;
}

const cnameAlone = (records: readonly ResolvedRecord[]): readonly Found[] => {
  const aliases = records.filter((record) => isAlias(record) && !isAllowedApex(record));
  const other = records.find((record) => !isAlias(record));
  return beside(aliases, other, 'a CNAME must be alone at its name');
};

const nullMxAlone = (records: readonly ResolvedRecord[]): readonly Found[] => {
  const other = records.find(({ canonical }) => kindOf(canonical) === 'MX');
  const alone = records.filter(({ canonical }) => kindOf(canonical) === 'null MX');
  return beside(alone, other, 'an MX `.` means that there is no mail here');
};

/** What a name can have but one text of, and what two of them do. */
const kindTwice = (records: readonly ResolvedRecord[]): readonly Found[] => {
  const texts = records.filter(({ desired }) => desired.type === 'TXT');
  if (texts.length < 2) return [];
  const kinds = groupBy(texts, ({ canonical }) => textKind(canonical.name, canonical.content));
  return [...kinds].flatMap(([kind, [first, ...others]]) =>
    (kind === null ? [] : others)
      .filter((record) => differ(first!, record))
      .map((record) => {
        const [what, then] = kindWords[kind!] ?? [kind, 'then none counts'];
        const message = `a second ${what} at ${shownName(record)}; ${then} (the first: ${placeOf(first!)})`;
        return { record, at: record.content, message };
      }),
  );
};

const kindWords: Readonly<Record<string, readonly [what: string, then: string]>> = {
  spf1: ['SPF text', 'mail servers then refuse both'],
  dmarc1: ['DMARC policy', 'mail servers then ignore both'],
  dkim1: ['DKIM key', 'mail servers then take either, or none: give each a selector of its own'],
  stsv1: ['MTA-STS text', 'mail servers then ignore both'],
  tlsrptv1: ['TLS reporting text', 'mail servers then ignore both'],
  bimi1: ['BIMI text', 'mail readers then ignore both'],
};

const mixedTtl = (records: readonly ResolvedRecord[]): readonly Found[] => {
  const stated = records.filter(({ desired }) => desired.ttl !== null);
  const sets = groupBy(stated, ({ desired }) => desired.type);
  return [...sets.values()].flatMap(([first, ...others]) => {
    const record = others.find(({ desired }) => desired.ttl !== first!.desired.ttl);
    if (record === undefined) return [];
    const message = `the TTLs of one record set differ: ${record.desired.ttl} here, ${first!.desired.ttl} at ${placeOf(first!)}`;
    return [{ record, at: placeIn(record, record.at.ttl === null ? 'record' : 'ttl'), message }];
  });
};

const duplicateRecord = (records: readonly ResolvedRecord[]): readonly Found[] => {
  const copies = groupBy(
    records,
    ({ canonical: { type, content, priority } }) => `${type} ${priority} ${content}`,
  );
  return [...copies.values()].flatMap(([first, ...others]) =>
    others.map((record) => {
      const message = `this ${record.desired.type} record is listed twice, also at ${placeOf(first!)}`;
      return { record, at: placeIn(record, 'record'), message };
    }),
  );
};

export const nameChecks: readonly NameCheck[] = [
  { id: 'cname-alone', find: cnameAlone },
  { id: 'null-mx-alone', find: nullMxAlone },
  { id: 'kind-twice', find: kindTwice },
  { id: 'mixed-ttl', find: mixedTtl },
  { id: 'duplicate-record', find: duplicateRecord },
];

/** A diagnostic for each record that must be alone, naming another record, or the first of several of its kind. */
const beside = (
  alone: readonly ResolvedRecord[],
  other: ResolvedRecord | undefined,
  rule: string,
): readonly Found[] =>
  alone.flatMap((record) => {
    const rival = other ?? alone[0];
    if (rival === undefined || !differ(rival, record)) return [];
    const message = `${rule}, but at ${shownName(record)} there is also ${rival.desired.type} (${placeOf(rival)})`;
    return [{ record, at: placeIn(record, 'record'), message }];
  });

/** If a CNAME is allowed beside NS and SOA, it is allowed beside others too: the service flattens it there. */
const isAllowedApex = ({ desired, allow }: ResolvedRecord): boolean =>
  desired.name === null && allow.has('cname-apex');

const isAlias = ({ canonical }: ResolvedRecord): boolean => kindOf(canonical) === 'CNAME';

/** Another check reports copies. */
const differ = ({ canonical: one }: ResolvedRecord, { canonical: other }: ResolvedRecord): boolean =>
  one.type !== other.type || one.content !== other.content || one.priority !== other.priority;

/** The name in a message, as people write it. */
const shownName = ({ canonical }: ResolvedRecord): string => quote(canonical.name || '@');
