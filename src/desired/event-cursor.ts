import type { Event } from 'js-yaml';
import type { Position } from './diagnostic.ts';
import { Anchors } from './yaml-tree.ts';

/** How far a text has been read by its events. */
export interface EventCursor {
  readonly source: string;
  events: readonly Event[];
  next: number;
  anchors: Anchors;
  /** Where what was read so far ends, or later begins. */
  readTo: number;
  line: number;
  lineStart: number;
  /** Of the line feed; -1 in the last line. */
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

/** Ends the reading: all is left to the library. */
export const decline = (): never => {
  throw new DeclinedError();
};

/** Of places that come one after the other, as they do in the file. */
export const positionAt = (offset: number, cursor: EventCursor): Position => {
  if (offset < cursor.lineStart) return decline();
  while (cursor.lineEnd >= 0 && offset > cursor.lineEnd) {
    cursor.line += 1;
    cursor.lineStart = cursor.lineEnd + 1;
    cursor.lineEnd = cursor.source.indexOf('\n', cursor.lineStart);
  }
  return { line: cursor.line, column: offset - cursor.lineStart + 1 };
};
