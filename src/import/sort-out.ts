import { hasPriority, isRecordType, type ActualRecord } from '../model/record.ts';
import { maxUnsigned16 } from '../model/types/srv.ts';
import { byId, compareText, entryOf, recordKey, type ActualEntry } from '../plan/entry.ts';
import { isParkedName } from '../plan/parked.ts';
import { shownRecord, statableTtl } from './entry.ts';

export interface SortedOut {
  /** The records that a file can describe, in the order in which they are written. */
  readonly desired: readonly ActualEntry[];
  /** What a file cannot describe, in words, by record id. */
  readonly remarks: readonly string[];
}

/** Gives the same for any order of the records. */
export const sortOut = (records: readonly ActualRecord[]): SortedOut => {
  const desired = new Map<string, ActualEntry>();
  const remarks: string[] = [];
  for (const actual of records.map(entryOf).sort(byId)) {
    const remark = whyNotDesired(actual, desired.get(recordKey(actual)));
    if (remark === null) desired.set(recordKey(actual), actual);
    remarks.push(...(remark ?? ttlRemark(actual.record)));
  }
  return { desired: [...desired.values()].sort(byPlace), remarks };
};

const whyNotDesired = (
  { record, type, name }: ActualEntry,
  twin: ActualEntry | undefined,
): string[] | null => {
  const { id, priority } = record;
  const because = (reason: string): string[] => [`record ${id} ${reason}: ${shownRecord(record)}`];
  if (record.isUnreadable) return because('cannot be understood');
  if (!isRecordType(type)) return because('has a type that a file cannot describe');
  if (isParkedName(name)) return because('is parked');
  if (hasPriority(type) && priority !== null && (priority < 0 || priority > maxUnsigned16)) {
    return because('has a priority that a file cannot state');
  }
  return twin === undefined ? null : because(`is a copy of record ${twin.record.id}`);
};

const ttlRemark = (record: ActualRecord): string[] =>
  record.ttl === null || statableTtl(record) !== null
    ? []
    : [
        `record ${record.id} has a TTL that a file cannot state, and is listed without one: ${shownRecord(record)}`,
      ];

/** By type, then by name: the subdomain itself first, and names below a name after it. */
const byPlace = (a: ActualEntry, b: ActualEntry): number =>
  compareText(a.type, b.type) ||
  compareText(sortKey(a.name), sortKey(b.name)) ||
  (a.priority ?? -1) - (b.priority ?? -1) ||
  compareText(a.content, b.content);

/** Numbers, as in reverse zones, come first and sort by value. */
const sortKey = (name: string): string =>
  name
    .split('.')
    .toReversed()
    .map((label) => (/^\d+$/.test(label) ? label.padStart(10, '0') : label))
    .join('\0');
