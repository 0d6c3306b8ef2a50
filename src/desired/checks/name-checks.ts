import { isSpf } from '../../model/text.ts';
import { kindOf } from '../../plan/conflict.ts';
import type { ResolvedRecord } from '../resolve-record.ts';
import { placeOf, shownName, type NameCheck, type RecordDiagnostic } from './check.ts';

const duplicateRecord: NameCheck = {
  id: 'duplicate-record',
  find: (records) => {
    const first = new Map<string, ResolvedRecord>();
    return records.flatMap((record) => {
      const { type, content, priority } = record.canonical;
      const key = `${type} ${priority} ${content}`;
      const before = first.get(key);
      if (before === undefined) {
        first.set(key, record);
        return [];
      }
      const message = `this ${type} record is listed twice, also at ${placeOf(before)}`;
      return [{ entry: record, at: record.at.record, message }];
    });
  },
};

const cnameAlone: NameCheck = {
  id: 'cname-alone',
  find: (records) => {
    const aliases = records.filter((record) => isAlias(record) && !isAllowedApex(record));
    const other = records.find((record) => !isAlias(record));
    return beside(aliases, other, 'a CNAME must be alone at its name');
  },
};

const nullMxAlone: NameCheck = {
  id: 'null-mx-alone',
  find: (records) => {
    const other = records.find(({ canonical }) => kindOf(canonical) === 'MX');
    const alone = records.filter(({ canonical }) => kindOf(canonical) === 'null MX');
    return beside(alone, other, 'an MX `.` means that there is no mail here');
  },
};

const spfTwice: NameCheck = {
  id: 'spf-twice',
  find: (records) => {
    const [first, ...others] = records.filter(isSpfText);
    return others
      .filter((other) => differ(first!, other))
      .map((record) => ({
        entry: record,
        at: record.at.content,
        message: `a second SPF text at ${shownName(record)}; mail servers then refuse both (the first: ${placeOf(first!)})`,
      }));
  },
};

const mixedTtl: NameCheck = {
  id: 'mixed-ttl',
  find: (records) => {
    const first = new Map<string, ResolvedRecord>();
    const reported = new Set<string>();
    return records.flatMap((record) => {
      const { type, ttl } = record.desired;
      const before = first.get(type);
      if (ttl === null || reported.has(type)) return [];
      if (before === undefined) first.set(type, record);
      if (before === undefined || before.desired.ttl === ttl) return [];
      reported.add(type);
      const message = `the TTLs of one record set differ: ${ttl} here, ${before.desired.ttl} at ${placeOf(before)}`;
      return [{ entry: record, at: record.fields.get('ttl') ?? record.at.record, message }];
    });
  },
};

/** A diagnostic for each record that must be alone, naming another record, or the first of several of its kind. */
const beside = (
  alone: readonly ResolvedRecord[],
  other: ResolvedRecord | undefined,
  rule: string,
): readonly RecordDiagnostic[] =>
  alone.flatMap((record) => {
    const rival = other ?? alone[0];
    if (rival === undefined || !differ(rival, record)) return [];
    const { desired } = rival;
    const message = `${rule}, but at ${shownName(record)} there is also ${desired.type} (${placeOf(rival)})`;
    return [{ entry: record, at: record.at.record, message }];
  });

/** If a CNAME is allowed beside NS and SOA, it is allowed beside others too: the service flattens it there. */
const isAllowedApex = ({ desired, allow }: ResolvedRecord): boolean =>
  desired.name === null && allow.has('cname-apex');

const isAlias = ({ canonical }: ResolvedRecord): boolean => kindOf(canonical) === 'CNAME';

const isSpfText = ({ canonical: { type, content } }: ResolvedRecord): boolean =>
  type === 'TXT' && isSpf(content);

/** Another check reports copies. */
const differ = ({ canonical: one }: ResolvedRecord, { canonical: other }: ResolvedRecord): boolean =>
  one.type !== other.type || one.content !== other.content || one.priority !== other.priority;

export const nameChecks: readonly NameCheck[] = [
  cnameAlone,
  nullMxAlone,
  spfTwice,
  mixedTtl,
  duplicateRecord,
];
