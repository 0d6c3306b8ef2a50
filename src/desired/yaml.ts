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
  type Event,
} from 'js-yaml';
import type { CheckId } from './check-id.ts';
import { quote } from './problem.ts';

/** The documents of a file as far as they could be read, and what is wrong. */
export interface Yaml {
  readonly documents: readonly YamlDocument[];
  readonly problems: readonly YamlProblem[];
}

export interface YamlDocument {
  readonly root: YamlNode;
  /** Has a syntax error, so that what follows it cannot be trusted. */
  readonly isBroken: boolean;
}

export interface YamlProblem {
  readonly check: CheckId;
  readonly at: number;
  readonly message: string;
}

/** A value and the offset at which it stands. Every scalar is text; what it means is for the field to say. */
export type YamlNode = ScalarNode | ListNode | MappingNode | UnreadNode;

export interface ScalarNode {
  readonly kind: 'scalar';
  /** Quotes and escapes undone; null if it is left out, or a plain `null` or `~`. */
  readonly text: string | null;
  readonly at: number;
}

export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
  readonly at: number;
}

export interface MappingNode {
  readonly kind: 'mapping';
  readonly entries: readonly MappingEntry[];
  readonly at: number;
}

/** This value could not be read, which has been reported. */
export interface UnreadNode {
  readonly kind: 'unread';
  readonly at: number;
}

export interface MappingEntry {
  readonly key: string;
  readonly at: number;
  readonly value: YamlNode;
}

/** A template needs six levels. */
export const maxDepth = 64;

/** The documents of a text in YAML 1.2, without merge keys. Throws the YAMLException of the first syntax error. */
export const parseYaml = (source: string): Yaml => documentsIn(source, parseEvents(source, { maxDepth }));

/** A document that is being read. */
export interface Tree {
  /** Null while an anchor's own node is being read. */
  readonly anchors: Map<string, YamlNode | null>;
  readonly problems: YamlProblem[];
}

/** What a plain text means nothing by. */
export const nulls: ReadonlySet<string> = new Set(['', '~', 'null', 'Null', 'NULL']);

export const wrongVersion = (version: string, at: number): YamlProblem => ({
  check: 'yaml-version',
  at: Math.max(at, 0),
  message: `these files are YAML 1.2, where \`no\` and \`010\` are text and number, not ${quote(version)}: remove the line`,
});

/** `!` is YAML's non-specific tag. The core tags change nothing, since the field decides. */
export const knownTag = /^(?:!|(?:!!|!?<?tag:yaml\.org,2002:)(?:str|int|float|bool|null|map|seq)>?)$/;

export const unknownTag = (tag: string): string =>
  `the tag ${quote(tag.replace('tag:yaml.org,2002:', '!!'))} is not supported; remove it, or quote the whole text if the \`!\` belongs to it`;

/** What an alias stands for, at the place of the alias. */
export const aliased = (name: string, at: number, { anchors, problems }: Tree): YamlNode => {
  const target = anchors.get(name);
  if (target) return { ...target, at };
  problems.push({ check: 'yaml-alias', at, message: target === null ? ownAlias(name) : noAnchor(name) });
  return { kind: 'unread', at };
};

const ownAlias = (name: string): string => `the alias \`*${name}\` is inside the value that it refers to`;

const noAnchor = (name: string): string =>
  `unquoted, ${quote(`*${name}`)} is an alias in YAML, and nothing is named \`&${name}\` before it; if it is text, quote it: "*${name}"`;

/** Null if the key is no text. */
export const entryOf = (key: YamlNode, value: YamlNode, problems: YamlProblem[]): MappingEntry | null => {
  if (key.kind === 'scalar') return { key: key.text ?? '', at: key.at, value };
  if (key.kind !== 'unread') problems.push({ check: 'wrong-type', at: key.at, message: noKey });
  return null;
};

const noKey = 'a key is one word, not a list or a mapping; a variable is written `${name}`';

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
  cursor.end = Math.max(cursor.end, at);
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
    const entry = entryOf(key, nodeIn(cursor), cursor.problems);
    if (entry !== null) entries.push(entry);
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
