import {
  EVENT_SCALAR,
  getScalarValue,
  SCALAR_STYLE_FOLDED_BLOCK,
  SCALAR_STYLE_LITERAL_BLOCK,
  SCALAR_STYLE_PLAIN,
} from 'js-yaml';
import { decline, positionAt, type EventOf, type EventCursor } from './event-cursor.ts';
import { coreValue, type ScalarNode } from './tree.ts';

export const scalarAt = (event: EventOf<typeof EVENT_SCALAR>, cursor: EventCursor): ScalarNode => {
  const { source } = cursor;
  const { valueStart, valueEnd, style } = event;
  if (valueStart < 0) return decline();
  const isPlain = style === SCALAR_STYLE_PLAIN;
  const isBlock = style === SCALAR_STYLE_LITERAL_BLOCK || style === SCALAR_STYLE_FOLDED_BLOCK;
  const start = isBlock ? blockHeader(valueStart, cursor) : isPlain ? valueStart : valueStart - 1;
  const { line, column } = positionAt(start, cursor);
  cursor.readTo = valueEnd;
  const text = event.fast ? source.slice(valueStart, valueEnd) : getScalarValue(source, event);
  return { kind: 'scalar', text, value: isPlain ? coreValue(text) : text, line, column };
};

/** The offset of the `|` or `>` of a block scalar; known only if there is no other before it in its line. */
const blockHeader = (valueStart: number, { source, readTo }: EventCursor): number => {
  const lineStart = source.lastIndexOf('\n', valueStart - 2) + 1;
  const from = Math.max(lineStart, readTo);
  const match = /^[^|>]*([|>])[^|>]*$/.exec(source.slice(from, valueStart));
  return match === null ? decline() : from + match[0].indexOf(match[1]!);
};

/** The empty value of a key without a value: it is behind the colon and its blanks. */
export const leftOutIn = (cursor: EventCursor): ScalarNode | null => {
  const event = cursor.events[cursor.next]!;
  const isLeftOut =
    event.type === EVENT_SCALAR && event.valueStart < 0 && event.anchorStart < 0 && event.tagStart < 0;
  if (!isLeftOut) return null;
  colon.lastIndex = cursor.readTo;
  if (!colon.test(cursor.source)) return decline();
  cursor.next += 1;
  cursor.readTo = colon.lastIndex;
  const { line, column } = positionAt(cursor.readTo, cursor);
  return { kind: 'scalar', text: '', value: null, line, column };
};

/** From the end of a key. */
const colon = /["']?[ \t]*:[ \t]*/y;
