import {
  EVENT_ALIAS,
  EVENT_DOCUMENT,
  EVENT_MAPPING,
  EVENT_POP,
  EVENT_SCALAR,
  EVENT_SEQUENCE,
  parseEvents,
  COLLECTION_STYLE_FLOW,
  YAMLException,
} from 'js-yaml';
import { diagnosticAt, type Diagnostic } from '../diagnostic.ts';
import { placeIn } from '../text.ts';
import { openCursor, decline, positionAt, type EventOf, type EventCursor } from './event-cursor.ts';
import { leftOutIn, scalarAt } from './event-scalars.ts';
import {
  Anchors,
  type ListNode,
  type MappingEntry,
  type MappingNode,
  type YamlDocument,
  type YamlNode,
} from './tree.ts';

/*
 * Parsers agree on common YAML, and on little else. So this reads plain files only. It declines everything that the
 * `yaml` library, which decides, may read differently or has to explain: errors, tags, directives, explicit keys,
 * rare white space.
 */

export type EventsRead = { readonly documents: readonly YamlDocument[] } | { readonly declined: Diagnostic };

export const readEvents = (source: string): EventsRead => {
  const cursor = openCursor(source);
  const declined = (at: number, reason = 'this is not plain YAML'): EventsRead => ({
    declined: diagnosticAt('yaml-syntax', placeIn(source, at), reason),
  });
  const place = source.search(unusual);
  if (place >= 0) return declined(place);
  try {
    cursor.events = parseEvents(source, { maxDepth });
    return { documents: documentsOf(cursor) };
  } catch (error) {
    // Declining is always safe.
    return error instanceof YAMLException
      ? declined(error.mark?.position ?? 0, error.reason)
      : declined(cursor.readTo);
  }
};

/** Tabs, line ends and marks that parsers treat differently; directives, ends of documents, explicit keys. */
const unusual =
  /(?:^|-) *\t|[\u0085\u2028\u2029\ufeff]|^ *%|[\]}]\?|^ *\.\.\.|^ +---|(?:^|[\s,[{:?-])\?(?=\s|$)/m;

/** More than a template needs; the `yaml` library limits deeper files. */
const maxDepth = 32;

const documentsOf = (cursor: EventCursor): YamlDocument[] => {
  const { events } = cursor;
  const documents: YamlDocument[] = [];
  while (cursor.next < events.length) {
    const event = events[cursor.next]!;
    if (event.type !== EVENT_DOCUMENT || event.directives.length > 0) return decline();
    cursor.next += 1;
    cursor.anchors = new Anchors();
    const root = nodeIn(cursor);
    cursor.next += 1;
    if (root.kind === 'scalar') return decline();
    documents.push({ root, isBroken: false, line: root.line, column: root.column });
  }
  return documents.length === 0 ? decline() : documents;
};

const nodeIn = (cursor: EventCursor): YamlNode => {
  const event = cursor.events[cursor.next]!;
  cursor.next += 1;
  switch (event.type) {
    case EVENT_SCALAR:
      return named(event, cursor, scalarAt);
    case EVENT_MAPPING:
      return named(event, cursor, mappingAt);
    case EVENT_SEQUENCE:
      return named(event, cursor, listAt);
    case EVENT_ALIAS:
      return aliasAt(event, cursor);
    case EVENT_DOCUMENT:
    case EVENT_POP:
      return decline();
  }
};

type NodeEvent = EventOf<typeof EVENT_SCALAR | typeof EVENT_MAPPING | typeof EVENT_SEQUENCE>;

/** Registers the node's anchor, if it has one. */
const named = <One extends NodeEvent, Node extends YamlNode>(
  event: One,
  cursor: EventCursor,
  read: (event: One, cursor: EventCursor) => Node,
): Node => {
  if (event.tagStart >= 0) return decline();
  if (event.anchorStart < 0) return read(event, cursor);
  const { source, anchors } = cursor;
  const name = source.slice(event.anchorStart, event.anchorEnd);
  if (name.length > maxKeyLength || !/\s/.test(source[event.anchorEnd] ?? ' ')) return decline();
  cursor.readTo = Math.max(cursor.readTo, event.anchorEnd);
  anchors.open(name);
  const node = read(event, cursor);
  anchors.close(name, node);
  return node;
};

/** YAML allows 1,024 characters, anchors and quotes with them. */
const maxKeyLength = 256;

const mappingAt = (event: EventOf<typeof EVENT_MAPPING>, cursor: EventCursor): MappingNode => {
  const { source } = cursor;
  const isFlow = event.style === COLLECTION_STYLE_FLOW;
  // The `yaml` library gives another start for a single-pair mapping, and for one whose first key has an
  // anchor.
  if (isFlow ? source[event.start] !== '{' : source[event.start] === '&') return decline();
  const { line, column } = positionAt(event.start, cursor);
  const entries: MappingEntry[] = [];
  while (cursor.events[cursor.next]!.type !== EVENT_POP) {
    const key = nodeIn(cursor);
    const isShort = cursor.readTo - (cursor.lineStart + key.column) < maxKeyLength;
    if (key.kind !== 'scalar' || !isShort) return decline();
    entries.push({ key, value: leftOutIn(cursor) ?? nodeIn(cursor) });
  }
  cursor.next += 1;
  return { kind: 'mapping', entries, line, column };
};

const listAt = (event: EventOf<typeof EVENT_SEQUENCE>, cursor: EventCursor): ListNode => {
  const { line, column } = positionAt(event.start, cursor);
  const items: YamlNode[] = [];
  while (cursor.events[cursor.next]!.type !== EVENT_POP) items.push(nodeIn(cursor));
  cursor.next += 1;
  return { kind: 'list', items, line, column };
};

const aliasAt = ({ anchorStart, anchorEnd }: EventOf<typeof EVENT_ALIAS>, cursor: EventCursor): YamlNode => {
  const { source, anchors } = cursor;
  const at = positionAt(anchorStart - 1, cursor);
  cursor.readTo = anchorEnd;
  const target = anchors.find(source.slice(anchorStart, anchorEnd));
  return (target && anchors.repeat(target, at)) ?? decline();
};
