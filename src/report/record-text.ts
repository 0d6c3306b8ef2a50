import { escapeControl } from '../lib/escape-control.ts';
import type { RecordData } from '../model/record.ts';
import { shortenPair } from './columns.ts';

/** A record in one line for people: name, type, data. */
export const recordText = (record: RecordData): string => changeText(null, record);

/** A change of a record in one line. */
export const changeText = (before: RecordData | null, after: RecordData): string => {
  const [from, to] = shortenPair((before ?? after).content, after.content, maxContent);
  return [...(before === null ? [] : [lineOf(before, from)]), lineOf(after, to)].join(' → ');
};

/** Columns. Both sides of a change fit into what a line shows. */
const maxContent = 600;

const lineOf = ({ type, name, priority, ttl }: RecordData, content: string): string =>
  [name ?? '@', type, priority ?? [], content, ttl === null ? [] : `ttl ${ttl}`]
    .flat()
    .map((part) => escapeControl(String(part)))
    .join(' ');
