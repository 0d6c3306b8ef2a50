import type { Event } from 'js-yaml';
import type { Position } from '../diagnostic.ts';
import { Anchors } from './tree.ts';

/** How far a text has been read. */
export interface EventCursor {
  readonly source: string;
  events: readonly Event[];
  next: number;
  anchors: Anchors;
  /** The end of what was read so far. */
  readTo: number;
  line: number;
  lineStart: number;
  /** The offset of the line feed; -1 in the last line. */
  lineEnd: number;
}

export const openCursor = (source: string): EventCursor => ({
  source,
  events: [],
  next: 0,
  anchors: new Anchors(),
  readTo: 0,
  line: 1,
  lineStart: 0,
  lineEnd: source.indexOf('\n'),
});

export type EventOf<Type> = Extract<Event, { readonly type: Type }>;

class DeclinedError extends Error {}

/** Gives up: the YAML library reads the file. */
export const decline = (): never => {
  throw new DeclinedError();
};

/** Offsets must be given in ascending order. */
export const positionAt = (offset: number, cursor: EventCursor): Position => {
  if (offset < cursor.lineStart) return decline();
  while (cursor.lineEnd >= 0 && offset > cursor.lineEnd) {
    cursor.line += 1;
    cursor.lineStart = cursor.lineEnd + 1;
    cursor.lineEnd = cursor.source.indexOf('\n', cursor.lineStart);
  }
  return { line: cursor.line, column: offset - cursor.lineStart + 1 };
};
