import { escapeControl, maxShown } from '../lib/escape-control.ts';
import type { RecordData } from '../model/record.ts';
import type { Difference, Field } from '../plan/difference.ts';
import { shortenPair } from './columns.ts';

/** The record of a difference, and what changes in it. Every text is visible and harmless to a terminal. */
export interface RowSides {
  readonly type: string;
  readonly name: string;
  /** Null if the content itself changes. */
  readonly content: string | null;
  /** Priority and TTL, if they are stated and do not change. */
  readonly facts: readonly string[];
  readonly changes: readonly RowChange[];
}

interface RowChange {
  readonly field: Field | 'type';
  readonly from: string;
  readonly to: string;
}

export const sidesOf = (difference: Difference): RowSides => {
  if (difference.action === 'update') {
    return recordSides(difference.current, difference.desired, difference.fields);
  }
  if (difference.action === 'park') {
    return recordSides(difference.current, difference.desired, ['name', 'content']);
  }
  if (difference.action === 'blocked') return sidesOfBlocked(difference);
  const record = difference.action === 'surplus' ? difference.current : difference.desired;
  return recordSides(record, record, []);
};

/** Values that the file does not state do not change. */
const sidesOfBlocked = ({ current, desired }: BlockedDifference): RowSides => {
  const fields = recordFields.filter(
    (field) =>
      current !== undefined &&
      isStated(desired, field) &&
      valueOf(current, field) !== valueOf(desired, field),
  );
  return recordSides(current ?? desired, desired, fields);
};

type BlockedDifference = Extract<Difference, { action: 'blocked' }>;

export const sideMissingFrom = (difference: Difference): 'actual' | 'desired' | null => {
  if (difference.action === 'surplus') return 'desired';
  return 'current' in difference ? null : 'actual';
};

export const recordSides = (
  from: RecordData,
  to: RecordData,
  fields: readonly RowChange['field'][],
): RowSides => ({
  type: escapeControl(from.type),
  name: valueOf(from, 'name'),
  content: fields.includes('content') ? null : valueOf(from, 'content'),
  facts: (['priority', 'ttl'] as const)
    .filter((field) => from[field] !== null && !fields.includes(field))
    .map((field) => `${field} ${from[field]}`),
  changes: fields.map((field) => {
    const [before, after] = fromDifference(from[field], to[field]);
    return { field, from: shownValue(field, before), to: shownValue(field, after) };
  }),
});

/** Two texts that are shortened start shortly before they differ. */
const fromDifference = <T>(from: T, to: T): [T | string, T | string] => {
  if (typeof from !== 'string' || typeof to !== 'string') return [from, to];
  let start = -kept;
  if (Math.max(from.length, to.length) > maxShown)
    while (start + kept < from.length && from[start + kept] === to[start + kept]) start += 1;
  return start <= 0 ? [from, to] : [`…${from.slice(start)}`, `…${to.slice(start)}`];
};

/** Characters before the difference. */
const kept = 60;

export const valueOf = (record: RecordData, field: RowChange['field']): string =>
  shownValue(field, record[field]);

const shownValue = (field: RowChange['field'], value: string | number | null): string => {
  if (field === 'name' && (value === null || value === '')) return '@';
  if (value === '') return '(empty)';
  return value === null ? '(none)' : escapeControl(String(value));
};

export const recordFields = ['name', 'content', 'priority', 'ttl'] as const;

/** A priority or TTL that is not stated is left as it is. */
export const isStated = (record: RecordData, field: Field): boolean =>
  record[field] !== null || (field !== 'ttl' && field !== 'priority');

export const nothing: RecordData = { type: '', name: null, content: '', priority: null, ttl: null };

/** A record in one line for people: name, type, data. */
export const recordText = (record: RecordData): string => changeText(null, record);

/** A change of a record in one line. */
export const changeText = (before: RecordData | null, after: RecordData): string => {
  const [change] = recordSides(before ?? after, after, ['content']).changes;
  const [from, to] = shortenPair(change?.from ?? '', change?.to ?? '', maxContent);
  return before ? `${lineOf(before, from)} → ${lineOf(after, to)}` : lineOf(after, to);
};

/** Columns. Both sides of a change fit into what a line shows. */
const maxContent = 600;

const lineOf = ({ type, name, priority, ttl }: RecordData, content: string): string =>
  [name ?? '@', type, priority, content, ttl === null ? null : `ttl ${ttl}`]
    .filter((part) => part !== null)
    .join(' ');
