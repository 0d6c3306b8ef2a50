import type { RecordData } from '../model/record.ts';

/** A record on one line, as a person would write it: name, type, data. */
export const recordText = ({ type, name, content, priority, ttl }: RecordData): string =>
  [name ?? '@', type, priority, content, ttl === null ? null : `ttl ${ttl}`]
    .filter((part) => part !== null)
    .join(' ');

/** What becomes of a record, on one line. */
export const changeText = (before: RecordData | null, after: RecordData): string =>
  before ? `${recordText(before)} → ${recordText(after)}` : recordText(after);
