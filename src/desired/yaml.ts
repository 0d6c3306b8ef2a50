import {
  EVENT_ALIAS,
  EVENT_POP,
  EVENT_SCALAR,
  EVENT_SEQUENCE,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE_DOUBLE_QUOTED,
  SCALAR_STYLE_FOLDED_BLOCK,
  SCALAR_STYLE_LITERAL_BLOCK,
  SCALAR_STYLE_PLAIN,
  SCALAR_STYLE_SINGLE_QUOTED,
  YAMLException,
  type Event,
} from 'js-yaml';
import { explain } from './yaml-errors.ts';
import {
  aliased,
  entryOf,
  knownTag,
  maxDepth,
  nulls,
  unknownTag,
  wrongVersion,
  type MappingEntry,
  type ScalarNode,
  type Tree,
  type Yaml,
  type YamlDocument,
  type YamlNode,
  type YamlProblem,
} from './yaml-tree.ts';

/** YAML 1.2 without merge keys. Never throws: `yaml` explains what is no YAML. */
export const readYaml = (source: string): Yaml => {
  const excess = excessIn(source);
  if (excess !== null)
    return { documents: [], problems: [{ check: 'yaml-syntax', at: excess, message: tooMuch }] };
  try {
    return documentsIn(source, parseEvents(source, { maxDepth }));
  } catch (error) {
    if (error instanceof YAMLException) return explain(source, error);
    throw error;
  }
};

/** A template cannot be split into two template files. */
export const howToSplit = 'move records to fragments, files named `_….yaml` that it names under `include`';

const tooMuch = `the file is too large: ${howToSplit}`;

/** Separators between values: 100,000 records have a million. Each takes some 200 octets of memory. */
const maxMarks = 2_000_000;

/** The offset of the first separator above the limit. */
const excessIn = (source: string): number | null => {
  if (source.length <= maxMarks) return null;
  const mark = /[,[{\n]|[-:] /g;
  for (let marks = 0; marks <= maxMarks; marks += 1) if (!mark.test(source)) return null;
  return mark.lastIndex - 1;
};

interface Cursor extends Tree {
  readonly source: string;
  readonly events: readonly Event[];
  next: number;
  /** The end of what was read so far. */
  end: number;
}

const documentsIn = (source: string, events: readonly Event[]): Yaml => {
  const problems: YamlProblem[] = [];
  const cursor: Cursor = { source, events, next: 0, end: 0, anchors: new Map(), problems };
  const documents: YamlDocument[] = [];
  while (cursor.next < events.length) {
    const event = events[cursor.next]!;
    cursor.next += 1;
    cursor.anchors.clear();
    const root = nodeIn(cursor);
    cursor.next += 1;
    documents.push({ root, isBroken: false });
    for (const directive of 'directives' in event ? event.directives : [])
      if (directive.kind === 'yaml' && directive.version !== '1.2')
        problems.push(wrongVersion(directive.version, source.lastIndexOf('%YAML', root.at)));
  }
  return { documents, problems };
};

const nodeIn = (cursor: Cursor): YamlNode => {
  const event = cursor.events[cursor.next]!;
  cursor.next += 1;
  const { source, anchors, problems } = cursor;
  if (event.type === EVENT_ALIAS) {
    cursor.end = event.anchorEnd;
    return aliased(source.slice(event.anchorStart, event.anchorEnd), event.anchorStart - 1, cursor);
  }
  if (!('tagStart' in event)) return { kind: 'unread', at: cursor.end };
  const tag = event.tagStart < 0 ? '!' : source.slice(event.tagStart, event.tagEnd);
  if (!knownTag.test(tag)) problems.push({ check: 'yaml-tag', at: event.tagStart, message: unknownTag(tag) });
  if (event.anchorStart < 0) return plainNodeIn(event, cursor);
  const name = source.slice(event.anchorStart, event.anchorEnd);
  anchors.set(name, null);
  const node = plainNodeIn(event, cursor);
  anchors.set(name, node);
  return node;
};

type NodeEvent = Extract<Event, { readonly tagStart: number }>;
type ScalarEvent = Extract<NodeEvent, { readonly type: typeof EVENT_SCALAR }>;

const plainNodeIn = (event: NodeEvent, cursor: Cursor): YamlNode => {
  if (event.type === EVENT_SCALAR) return scalarIn(event, cursor);
  const { start: at } = event;
  const node =
    event.type === EVENT_SEQUENCE
      ? ({ kind: 'list', items: itemsIn(cursor), at } as const)
      : ({ kind: 'mapping', entries: entriesIn(cursor), at } as const);
  cursor.next += 1;
  return node;
};

const isEnded = ({ events, next }: Cursor): boolean => events[next]!.type === EVENT_POP;

const itemsIn = (cursor: Cursor): YamlNode[] => {
  const items: YamlNode[] = [];
  while (!isEnded(cursor)) items.push(nodeIn(cursor));
  return items;
};

const entriesIn = (cursor: Cursor): MappingEntry[] => {
  const entries: MappingEntry[] = [];
  while (!isEnded(cursor)) {
    const key = nodeIn(cursor);
    for (const entry of entryOf(key, nodeIn(cursor), cursor.problems)) entries.push(entry);
  }
  return entries;
};

const scalarIn = (event: ScalarEvent, cursor: Cursor): ScalarNode => {
  const { valueStart, valueEnd, style, tagStart, anchorStart } = event;
  const { source } = cursor;
  if (valueStart < 0) {
    const at = tagStart >= 0 ? tagStart : anchorStart >= 0 ? anchorStart - 1 : behindColon(cursor);
    cursor.end = Math.max(cursor.end, at);
    return { kind: 'scalar', text: tagStart < 0 ? null : '', at };
  }
  const text = event.fast ? source.slice(valueStart, valueEnd) : getScalarValue(source, event);
  cursor.end = valueEnd;
  const isNull = style === SCALAR_STYLE_PLAIN && tagStart < 0 && text.length < 5 && nulls.has(text);
  return { kind: 'scalar', text: isNull ? null : text, at: beginning(event, source) };
};

const beginning = ({ style, valueStart }: ScalarEvent, source: string): number => {
  switch (style) {
    case SCALAR_STYLE_PLAIN:
      return valueStart;
    case SCALAR_STYLE_SINGLE_QUOTED:
    case SCALAR_STYLE_DOUBLE_QUOTED:
      return valueStart - 1;
    case SCALAR_STYLE_LITERAL_BLOCK:
    case SCALAR_STYLE_FOLDED_BLOCK: {
      const line = source.lastIndexOf('\n', valueStart - 2) + 1;
      return line + Math.max(source.slice(line, valueStart).search(/[|>][-+\d]*(?:[ \t]+#.*)?[ \t]*\n?$/), 0);
    }
  }
};

/** Where the value of a key would stand that has none. */
const behindColon = ({ source, end }: Cursor): number => {
  colon.lastIndex = end;
  return colon.test(source) ? colon.lastIndex : end;
};

const colon = /["']?[ \t]*:[ \t]*/y;
