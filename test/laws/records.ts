import type { RecordData } from '../../src/model/record.ts';
import { canonicalName, canonicalRecord } from './canonical.ts';

interface Keys {
  readonly key: string;
  readonly set: string;
  readonly setAndContent: string;
}

/** Records are immutable, and are compared many times. */
const known = new WeakMap<RecordData, Keys>();

const keysOf = (record: RecordData): Keys => {
  const found = known.get(record);
  if (found) return found;
  const { type, name, content, priority } = canonicalRecord(record);
  const set = `${type} ${name || '@'}`;
  const made = { key: `${set} ${priority ?? '-'} ${content}`, set, setAndContent: `${set} ${content}` };
  known.set(record, made);
  return made;
};

/** Type, name, content and priority: everything but the TTL, in canonical form. */
export const keyOf = (record: RecordData): string => keysOf(record).key;

export const setOf = (record: RecordData): string => keysOf(record).set;

/** The name as a file has it: some services make names absolute ones. */
export const placeOf = ({ name }: Pick<RecordData, 'name'>): string =>
  canonicalName(name).replace(/(?:^|\.)##domain##$|\.$/i, '');

export const placedKeyOf = (record: RecordData): string => keyOf(placed(record));

export const placedSetOf = (record: RecordData): string => setOf(placed(record));

/** A file may own a record that differs only in priority and TTL. */
export const placedSetAndContentOf = (record: RecordData): string => keysOf(placed(record)).setAndContent;

/** The same object each time: keys are kept by it. */
const placed = (record: RecordData): RecordData => {
  const found = knownPlaced.get(record);
  if (found) return found;
  const name = placeOf(record);
  const made = canonicalName(record.name) === name ? record : { ...record, name };
  knownPlaced.set(record, made);
  return made;
};

const knownPlaced = new WeakMap<RecordData, RecordData>();

export const sameKey = (a: RecordData, b: RecordData): boolean => keyOf(a) === keyOf(b);

export const sameState = (a: RecordData, b: RecordData): boolean => sameKey(a, b) && a.ttl === b.ttl;

/** Whether a record at the service equals a desired one. Any TTL matches if the file states none. */
export const satisfies = (actual: RecordData, desired: RecordData): boolean =>
  sameKey(actual, desired) && (desired.ttl === null || desired.ttl === actual.ttl);

export const shown = (record: RecordData & { readonly id?: number }): string =>
  [
    record.id === undefined ? '' : `#${record.id} `,
    record.type,
    ' ',
    record.name ?? '@',
    ' ',
    record.priority === null ? '' : `${record.priority} `,
    record.content,
    record.ttl === null ? '' : ` (${record.ttl})`,
  ].join('');
