import type { RecordData } from '../model/record.ts';

/** A record in one line for people: name, type, data. */
export const recordText = ({ type, name, content, priority, ttl }: RecordData): string =>
  [name ?? '@', type, priority, content, ttl === null ? null : `ttl ${ttl}`]
    .filter((part) => part !== null)
    .join(' ');

/** A change of a record in one line. */
export const changeText = (before: RecordData | null, after: RecordData): string =>
  before ? `${recordText(before)} → ${recordText(after)}` : recordText(after);
