import { canonicalRecord, type CanonicalRecord } from '../model/canonical.ts';
import type { ActualRecord, RecordData, DesiredRecord } from '../model/record.ts';
import type { DesiredTemplate } from '../model/template.ts';
import type { Field } from './difference.ts';

/** A record with its canonical form, computed once for a plan. */
export interface WithCanonical<Record extends RecordData> extends CanonicalRecord {
  readonly record: Record;
}

export type DesiredEntry = WithCanonical<DesiredRecord>;
export type ActualEntry = WithCanonical<ActualRecord>;

/** A desired record with the actual one that is it already, or that an update makes it. */
export interface Pair {
  readonly desired: DesiredEntry;
  readonly actual: ActualEntry;
  /** What an update has to change; empty when in sync. */
  readonly fields: readonly Field[];
}

/** One object for both, since a plan may have a million. */
export const entryOf = <Record extends RecordData>(record: Record): WithCanonical<Record> => {
  const { type, name, content, priority } = canonicalRecord(record);
  return { record, type, name, content, priority };
};

/** Identifies a desired record over time: everything except its TTL. */
export const recordKey = (entry: CanonicalRecord): string => `${setKey(entry)} ${dataKey(entry)}`;

/** Records of one key are one record set. */
export const setKey = ({ type, name }: CanonicalRecord): string => `${type} ${name}`;

/** Content and priority: within a set, records of one key are copies, TTL aside. */
export const dataKey = ({ priority, content }: CanonicalRecord): string => `${priority ?? ''} ${content}`;

export const pairOf = (desired: DesiredEntry, actual: ActualEntry): Pair => ({
  desired,
  actual,
  fields: differingFields(desired, actual),
});

/** Values that the file does not state never differ: an update cannot clear them (specification §4.6). */
const differingFields = (desired: DesiredEntry, actual: ActualEntry): readonly Field[] => {
  const fields: Field[] = [];
  if (desired.name !== actual.name) fields.push('name');
  if (desired.content !== actual.content) fields.push('content');
  const { priority } = desired;
  if (priority !== null && priority !== actual.priority) fields.push('priority');
  if (desired.record.ttl !== null && desired.record.ttl !== actual.record.ttl) fields.push('ttl');
  return fields.length === 0 ? none : fields;
};

/** Shared: a plan has a list for each of its records, and nearly all are empty. */
export const none: readonly never[] = [];

/** An order of desired records that does not depend on the input order. */
export const byDesired = (a: DesiredEntry, b: DesiredEntry): number =>
  compareText(a.type, b.type) ||
  compareText(a.name, b.name) ||
  compareText(a.content, b.content) ||
  (a.priority ?? -1) - (b.priority ?? -1) ||
  (a.record.ttl ?? -1) - (b.record.ttl ?? -1);

export const byId = (a: ActualEntry, b: ActualEntry): number => a.record.id - b.record.id;

export const compareText = (a: string, b: string): number => {
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

/** The `recordKey` of every record of a file: made at the first question, since a plan in sync asks none. */
export type DesiredKeys = Pick<ReadonlySet<string>, 'has'>;

export const desiredKeysOf = (desired: DesiredTemplate): DesiredKeys => ({
  has: (key) => keySetOf(desired).has(key),
});

const keySetOf = (desired: DesiredTemplate): ReadonlySet<string> => {
  const known = keySets.get(desired);
  if (known) return known;
  const keys = new Set(desired.records.map((record) => recordKey(entryOf(record))));
  keySets.set(desired, keys);
  return keys;
};

const keySets = new WeakMap<DesiredTemplate, ReadonlySet<string>>();
