import { canonicalRecord, type CanonicalRecord } from '../model/canonical.ts';
import type { PresentRecord, RecordData, WantedRecord } from '../model/record.ts';
import type { Field } from './difference.ts';

/** A record with its canonical form, computed once for a plan. */
export interface Entry<Record extends RecordData> extends CanonicalRecord {
  readonly record: Record;
}

export type Wanted = Entry<WantedRecord>;
export type Present = Entry<PresentRecord>;

/** A desired record and the actual one that is, or shall become, it. */
export interface Pair {
  readonly wanted: Wanted;
  readonly present: Present;
  /** What an update has to change; empty when in sync. */
  readonly fields: readonly Field[];
}

/** One object for both, since a plan may have a million. */
export const entryOf = <Record extends RecordData>(record: Record): Entry<Record> => {
  const { type, name, content, priority } = canonicalRecord(record);
  return { record, type, name, content, priority };
};

/** Identifies a desired record over time: everything except its TTL. */
export const recordKey = (entry: CanonicalRecord): string => `${setKey(entry)} ${dataKey(entry)}`;

/** Records of one key are one record set. */
export const setKey = ({ type, name }: CanonicalRecord): string => `${type} ${name}`;

/** Content and priority: within a set, records of one key are copies, TTL aside. */
export const dataKey = ({ priority, content }: CanonicalRecord): string => `${priority ?? ''} ${content}`;

export const pairOf = (wanted: Wanted, present: Present): Pair => ({
  wanted,
  present,
  fields: differingFields(wanted, present),
});

/** Values that the file does not state never differ: an update cannot clear them (specification §4.6). */
const differingFields = (wanted: Wanted, present: Present): readonly Field[] => {
  const fields: Field[] = [];
  if (wanted.name !== present.name) fields.push('name');
  if (wanted.content !== present.content) fields.push('content');
  const { priority } = wanted;
  if (priority !== null && priority !== present.priority) fields.push('priority');
  if (wanted.record.ttl !== null && wanted.record.ttl !== present.record.ttl) fields.push('ttl');
  return fields.length === 0 ? none : fields;
};

/** Shared: a plan has a list for each of its records, and nearly all are empty. */
export const none: readonly never[] = [];

/** An order of desired records that does not depend on the input order. */
export const byWanted = (a: Wanted, b: Wanted): number =>
  compareText(a.type, b.type) ||
  compareText(a.name, b.name) ||
  compareText(a.content, b.content) ||
  (a.priority ?? -1) - (b.priority ?? -1) ||
  (a.record.ttl ?? -1) - (b.record.ttl ?? -1);

export const byId = (a: Present, b: Present): number => a.record.id - b.record.id;

export const compareText = (a: string, b: string): number => {
  if (a === b) return 0;
  return a < b ? -1 : 1;
};
