import {
  EVENT_ALIAS,
  EVENT_DOCUMENT,
  EVENT_MAPPING,
  EVENT_POP,
  EVENT_SCALAR,
  EVENT_SEQUENCE,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE_FOLDED_BLOCK,
  SCALAR_STYLE_LITERAL_BLOCK,
  SCALAR_STYLE_PLAIN,
  COLLECTION_STYLE_FLOW,
  YAMLException,
  type Event,
} from 'js-yaml';
import { faultAt, type Fault, type Position } from './fault.ts';
import { placeIn } from './text.ts';
import {
  Anchors,
  coreValue,
  type ListNode,
  type MappingEntry,
  type MappingNode,
  type ScalarNode,
  type YamlDocument,
  type YamlNode,
} from './yaml-tree.ts';

/*
 * Parsers agree on what nearly everybody writes, and on little else. So this reads what is written plainly, and
 * declines all that `yaml`, which is the judge, may see in another way or has to explain: anything wrong, tags,
 * directives, explicit keys, rare blanks.
 */

export type EventsRead = { readonly documents: readonly YamlDocument[] } | { readonly declined: Fault };

export const readEvents = (source: string): EventsRead => {
  const reading: Reading = {
    source,
    events: [],
    next: 0,
    anchors: new Anchors(),
    passed: 0,
    line: 1,
    lineStart: 0,
    lineEnd: source.indexOf('\n'),
  };
  const declined = (at: number, reason = 'this is not plain YAML'): EventsRead => ({
    declined: faultAt('yaml-syntax', placeIn(source, at), reason),
  });
  const place = source.search(unusual);
  if (place >= 0) return declined(place);
  try {
    reading.events = parseEvents(source, { maxDepth });
    return { documents: documentsOf(reading) };
  } catch (error) {
    // Whatever it was: to decline is always right.
    return error instanceof YAMLException
      ? declined(error.mark?.position ?? 0, error.reason)
      : declined(reading.passed);
  }
};

/** Tabs, and line ends and marks that readers see differently; directives, ends of documents, explicit keys. */
const unusual = /(?:^ *|-)\t|[\u0085\u2028\u2029\ufeff]|^%|^ *\.\.\.|^ +---|(?:^|[\s,[{:?-])\?(?=\s|$)/m;

/** Twice what a template needs; what goes deeper is for `yaml` to bound. */
const maxDepth = 32;

interface Reading {
  readonly source: string;
  events: readonly Event[];
  next: number;
  anchors: Anchors;
  /** Where what was read so far ends, or later begins. */
  passed: number;
  line: number;
  lineStart: number;
  /** Of the line feed; -1 in the last line. */
  lineEnd: number;
}

class DeclinedError extends Error {}

const decline = (): never => {
  throw new DeclinedError();
};

const documentsOf = (reading: Reading): YamlDocument[] => {
  const { events } = reading;
  const documents: YamlDocument[] = [];
  while (reading.next < events.length) {
    const event = events[reading.next]!;
    if (event.type !== EVENT_DOCUMENT || event.directives.length > 0) return decline();
    reading.next += 1;
    reading.anchors = new Anchors();
    const root = nodeIn(reading);
    reading.next += 1;
    if (root.kind === 'scalar') return decline();
    documents.push({ root, isBroken: false, line: root.line, column: root.column });
  }
  return documents.length === 0 ? decline() : documents;
};

const nodeIn = (reading: Reading): YamlNode => {
  const event = reading.events[reading.next]!;
  reading.next += 1;
  switch (event.type) {
    case EVENT_SCALAR:
      return named(event, reading, scalarAt);
    case EVENT_MAPPING:
      return named(event, reading, mappingAt);
    case EVENT_SEQUENCE:
      return named(event, reading, listAt);
    case EVENT_ALIAS:
      return aliasAt(event, reading);
    case EVENT_DOCUMENT:
    case EVENT_POP:
      return decline();
  }
};

type EventOf<Type> = Extract<Event, { readonly type: Type }>;
type NodeEvent = EventOf<typeof EVENT_SCALAR | typeof EVENT_MAPPING | typeof EVENT_SEQUENCE>;

/** With its anchor, where it has one. */
const named = <One extends NodeEvent, Node extends YamlNode>(
  event: One,
  reading: Reading,
  read: (event: One, reading: Reading) => Node,
): Node => {
  if (event.tagStart >= 0) return decline();
  if (event.anchorStart < 0) return read(event, reading);
  const { source, anchors } = reading;
  const name = source.slice(event.anchorStart, event.anchorEnd);
  if (name.length > maxKeyLength || !/\s/.test(source[event.anchorEnd] ?? ' ')) return decline();
  reading.passed = Math.max(reading.passed, event.anchorEnd);
  anchors.open(name);
  const node = read(event, reading);
  anchors.close(name, node);
  return node;
};

const scalarAt = (event: EventOf<typeof EVENT_SCALAR>, reading: Reading): ScalarNode => {
  const { source } = reading;
  const { valueStart, valueEnd, style } = event;
  if (valueStart < 0) return decline();
  const isPlain = style === SCALAR_STYLE_PLAIN;
  const isBlock = style === SCALAR_STYLE_LITERAL_BLOCK || style === SCALAR_STYLE_FOLDED_BLOCK;
  const start = isBlock ? blockHeader(valueStart, reading) : isPlain ? valueStart : valueStart - 1;
  const { line, column } = positionAt(start, reading);
  reading.passed = valueEnd;
  const text = event.fast ? source.slice(valueStart, valueEnd) : getScalarValue(source, event);
  return { kind: 'scalar', text, value: isPlain ? coreValue(text) : text, line, column };
};

/** Where the `|` or `>` of a block text stands: known only if there is no other before it in its line. */
const blockHeader = (valueStart: number, { source, passed }: Reading): number => {
  const lineStart = source.lastIndexOf('\n', valueStart - 2) + 1;
  const from = Math.max(lineStart, passed);
  const match = /^[^|>]*([|>])[^|>]*$/.exec(source.slice(from, valueStart));
  return match === null ? decline() : from + match[0].indexOf(match[1]!);
};

/** YAML allows 1,024 characters, anchors and quotes with them. */
const maxKeyLength = 256;

const mappingAt = (event: EventOf<typeof EVENT_MAPPING>, reading: Reading): MappingNode => {
  const { source } = reading;
  const isFlow = event.style === COLLECTION_STYLE_FLOW;
  // A mapping that is no more than a pair, or whose first key has an anchor, begins elsewhere for `yaml`.
  if (isFlow ? source[event.start] !== '{' : source[event.start] === '&') return decline();
  const { line, column } = positionAt(event.start, reading);
  const entries: MappingEntry[] = [];
  while (reading.events[reading.next]!.type !== EVENT_POP) {
    const key = nodeIn(reading);
    const isShort = reading.passed - (reading.lineStart + key.column) < maxKeyLength;
    if (key.kind !== 'scalar' || !isShort) return decline();
    entries.push({ key, value: leftOutIn(reading) ?? nodeIn(reading) });
  }
  reading.next += 1;
  return { kind: 'mapping', entries, line, column };
};

/** What stands where a key has no value: nothing, behind the colon and its blanks. */
const leftOutIn = (reading: Reading): ScalarNode | null => {
  const event = reading.events[reading.next]!;
  const isLeftOut =
    event.type === EVENT_SCALAR && event.valueStart < 0 && event.anchorStart < 0 && event.tagStart < 0;
  if (!isLeftOut) return null;
  colon.lastIndex = reading.passed;
  if (!colon.test(reading.source)) return decline();
  reading.next += 1;
  reading.passed = colon.lastIndex;
  const { line, column } = positionAt(reading.passed, reading);
  return { kind: 'scalar', text: '', value: null, line, column };
};

/** From the end of a key. */
const colon = /["']?[ \t]*:[ \t]*/y;

const listAt = (event: EventOf<typeof EVENT_SEQUENCE>, reading: Reading): ListNode => {
  const { line, column } = positionAt(event.start, reading);
  const items: YamlNode[] = [];
  while (reading.events[reading.next]!.type !== EVENT_POP) items.push(nodeIn(reading));
  reading.next += 1;
  return { kind: 'list', items, line, column };
};

const aliasAt = ({ anchorStart, anchorEnd }: EventOf<typeof EVENT_ALIAS>, reading: Reading): YamlNode => {
  const { source, anchors } = reading;
  const at = positionAt(anchorStart - 1, reading);
  reading.passed = anchorEnd;
  const target = anchors.find(source.slice(anchorStart, anchorEnd));
  return (target && anchors.repeat(target, at)) ?? decline();
};

/** Of places that come one after the other, as they do in the file. */
const positionAt = (offset: number, reading: Reading): Position => {
  if (offset < reading.lineStart) return decline();
  while (reading.lineEnd >= 0 && offset > reading.lineEnd) {
    reading.line += 1;
    reading.lineStart = reading.lineEnd + 1;
    reading.lineEnd = reading.source.indexOf('\n', reading.lineStart);
  }
  return { line: reading.line, column: offset - reading.lineStart + 1 };
};
