import { dataOf, hasPriority, type DesiredRecord, type RecordData } from '../../model/record.ts';
import type { DesiredTemplate } from '../../model/template.ts';
import type { Blocked, Difference, Field } from '../../plan/difference.ts';
import { entryOf, pairOf, recordKey } from '../../plan/entry.ts';
import { matchesPattern, type RecordPattern } from '../../plan/record-pattern.ts';
import { shownRecord, statableTtl } from '../entry.ts';

/** What a file has to say instead, so that it says what the service has. */
export type FileChange = SetRecord | RemoveRecord | AddRecord;

export interface SetRecord {
  readonly kind: 'set';
  readonly desired: DesiredRecord;
  readonly actual: RecordData;
  readonly fields: readonly Field[];
}

export interface RemoveRecord {
  readonly kind: 'remove';
  readonly desired: DesiredRecord;
}

export interface AddRecord {
  readonly kind: 'add';
  readonly actual: RecordData;
}

export interface Changes {
  readonly changes: readonly FileChange[];
  /** What the service has and a file cannot say, in words. */
  readonly unsaid: readonly string[];
  /** Why some differences cannot be accepted now. */
  readonly refusals: readonly string[];
}

/** The changes for the differences that the patterns are about, or for all of them. */
export const changesFor = (
  { records }: DesiredTemplate,
  differences: readonly Difference[],
  patterns: readonly RecordPattern[],
): Changes => {
  const chosen = differences.filter((one) => sidesOf(one).some((side) => isChosen(patterns, side)));
  const updated = new Set(chosen.flatMap((one) => (one.action === 'update' ? one.recordId : [])));
  const unsaid: string[] = [];
  const refusals: string[] = [];
  const found = chosen.flatMap((one): FileChange[] => {
    if (one.action === 'surplus' || one.action === 'park')
      return updated.has(one.recordId) ? [] : [{ kind: 'add', actual: one.current }];
    const desired = records.find(isAt(one));
    if (!desired) refusals.push(`${placeOf(one)}: the file changed while it was compared: try again`);
    else if (one.action === 'blocked' && one.reason === 'pending-write')
      refusals.push(`${placeOf(one)}: it is not known yet whether a write of it took effect: ${one.message}`);
    if (!desired || (one.action === 'blocked' && one.reason === 'pending-write')) return [];
    const actual = one.action === 'add' ? undefined : one.current;
    return [actual ? settingOf(desired, actual, unsaid) : { kind: 'remove', desired }];
  });
  return { changes: withoutCopies(found, records, unsaid), unsaid, refusals };
};

export const isChosen = (patterns: readonly RecordPattern[], record: RecordData): boolean =>
  patterns.length === 0 || matchesPattern(patterns, record);

const sidesOf = (one: Difference): RecordData[] => [
  ...(one.action === 'surplus' || one.action === 'park' ? [] : [one.desired]),
  ...(one.action === 'add' || one.current === undefined ? [] : [one.current]),
];

type WithPlace = Exclude<Difference, { action: 'surplus' | 'park' }> | Blocked;

const placeOf = ({ source: { file, line } }: WithPlace): string => `${file}:${line}`;

/** Whether a record of a file is the one that differs. */
export const isAt = ({ source, desired }: WithPlace): ((record: DesiredRecord) => boolean) => {
  const key = recordKey(entryOf(desired));
  return (record) =>
    record.source.line === source.line &&
    record.source.column === source.column &&
    record.source.file === source.file &&
    recordKey(entryOf(record)) === key;
};

const settingOf = (desired: DesiredRecord, actual: RecordData, unsaid: string[]): SetRecord => {
  const { fields } = pairOf(entryOf(desired), entryOf({ id: 0, ...actual }));
  if (actual.ttl !== null && statableTtl(actual) === null)
    unsaid.push(`a TTL of ${actual.ttl}: ${shownRecord(actual)}`);
  return { kind: 'set', desired, actual: dataOf(actual), fields };
};

/** A file names each record once. */
const withoutCopies = (
  changes: readonly FileChange[],
  records: readonly DesiredRecord[],
  unsaid: string[],
): FileChange[] => {
  const changed = new Set(changes.flatMap((one) => (one.kind === 'add' ? [] : one.desired)));
  const keys = new Set(records.flatMap((record) => (changed.has(record) ? [] : recordKey(entryOf(record)))));
  return changes.flatMap((change): FileChange[] => {
    if (change.kind === 'remove') return [change];
    const key = recordKey(entryOf(statable(change.actual)));
    if (!keys.has(key)) {
      keys.add(key);
      return [change];
    }
    unsaid.push(`a second copy of one record: ${shownRecord(change.actual)}`);
    return change.kind === 'add' ? [] : [{ kind: 'remove', desired: change.desired }];
  });
};

const statable = (record: RecordData): RecordData =>
  hasPriority(record.type.toUpperCase()) ? record : { ...record, priority: null };
