import {
  EVENT_ALIAS,
  EVENT_POP,
  EVENT_SCALAR,
  EVENT_SEQUENCE,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE_FOLDED_BLOCK,
  SCALAR_STYLE_LITERAL_BLOCK,
  SCALAR_STYLE_PLAIN,
  type Event,
} from 'js-yaml';
import type { CheckId } from './check-id.ts';
import { quote } from './problem.ts';

/** A value and the offset at which it stands. Every scalar is text; what it means is for the field to say. */
export type YamlNode = ScalarNode | ListNode | MappingNode;

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

interface MappingEntry {
  readonly key: string;
  readonly at: number;
  readonly value: YamlNode;
}

export interface YamlProblem {
  readonly check: CheckId;
  readonly at: number;
  readonly message: string;
}

export interface ParsedYaml {
  readonly roots: readonly YamlNode[];
  readonly problems: readonly YamlProblem[];
}

/** A template needs six levels. */
export const maxDepth = 64;

/** The documents of a text in YAML 1.2, without merge keys. Throws the YAMLException of the first syntax error. */
export const parseYaml = (source: string): ParsedYaml => {
  const events = parseEvents(source, { maxDepth });
  const cursor: Cursor = { source, events, next: 0, end: 0, anchors: new Map(), problems: [] };
  const roots: YamlNode[] = [];
  while (cursor.next < events.length) {
    const event = events[cursor.next]!;
    cursor.next += 1;
    cursor.anchors.clear();
    const root = nodeIn(cursor);
    cursor.next += 1;
    roots.push(root);
    for (const directive of 'directives' in event ? event.directives : [])
      if (directive.kind === 'yaml' && directive.version !== '1.2') {
        const at = Math.max(source.lastIndexOf('%YAML', root.at), 0);
        cursor.problems.push({ check: 'yaml-version', at, message: wrongVersion(directive.version) });
      }
  }
  return { roots, problems: cursor.problems };
};

const wrongVersion = (version: string): string =>
  `these files are YAML 1.2, where \`no\` and \`010\` are text and number, not ${quote(version)}: remove the line`;

interface Cursor {
  readonly source: string;
  readonly events: readonly Event[];
  next: number;
  /** The end of what was read so far. */
  end: number;
  /** Null while an anchor's own node is being read. */
  readonly anchors: Map<string, YamlNode | null>;
  readonly problems: YamlProblem[];
}

const nodeIn = (cursor: Cursor): YamlNode => {
  const event = cursor.events[cursor.next]!;
  cursor.next += 1;
  const { source, anchors, problems } = cursor;
  if (event.type === EVENT_ALIAS) {
    cursor.end = event.anchorEnd;
    return aliased(source.slice(event.anchorStart, event.anchorEnd), event.anchorStart - 1, cursor);
  }
  if (!('tagStart' in event)) return { kind: 'scalar', text: null, at: cursor.end };
  const tag = event.tagStart < 0 ? '!' : source.slice(event.tagStart, event.tagEnd);
  if (!knownTag.test(tag)) problems.push({ check: 'yaml-tag', at: event.tagStart, message: unknownTag(tag) });
  if (event.anchorStart < 0) return plainNodeIn(event, cursor);
  const name = source.slice(event.anchorStart, event.anchorEnd);
  anchors.set(name, null);
  const node = plainNodeIn(event, cursor);
  anchors.set(name, node);
  return node;
};

/** What an alias stands for, at its place. One that stands for nothing is probably meant as a text. */
const aliased = (name: string, at: number, { anchors, problems }: Cursor): YamlNode => {
  const target = anchors.get(name);
  if (target) return { ...target, at };
  const message =
    target === null
      ? `the alias \`*${name}\` is inside the value that it refers to`
      : `unquoted, ${quote(`*${name}`)} is an alias in YAML, and nothing is named \`&${name}\` before it; if it is text, quote it: "*${name}"`;
  problems.push({ check: 'yaml-alias', at, message });
  return { kind: 'scalar', text: `*${name}`, at };
};

/** `!` is YAML's non-specific tag. The core tags change nothing, since the field decides. */
const knownTag = /^(?:!|(?:!!|!?<?tag:yaml\.org,2002:)(?:str|int|float|bool|null|map|seq)>?)$/;

const unknownTag = (tag: string): string =>
  `the tag ${quote(tag.replace('tag:yaml.org,2002:', '!!'))} is not supported; remove it, or quote the whole text if the \`!\` belongs to it`;

type NodeEvent = Extract<Event, { readonly tagStart: number }>;
type ScalarEvent = Extract<NodeEvent, { readonly type: typeof EVENT_SCALAR }>;

const plainNodeIn = (event: NodeEvent, cursor: Cursor): YamlNode => {
  if (event.type === EVENT_SCALAR) return scalarIn(event, cursor);
  const { start: at } = event;
  cursor.end = Math.max(cursor.end, at);
  const isEnded = (): boolean => cursor.events[cursor.next]!.type === EVENT_POP;
  const items: YamlNode[] = [];
  const entries: MappingEntry[] = [];
  while (!isEnded()) {
    const item = nodeIn(cursor);
    if (event.type === EVENT_SEQUENCE) items.push(item);
    else {
      const value = nodeIn(cursor);
      if (item.kind === 'scalar') entries.push({ key: item.text ?? '', at: item.at, value });
      else cursor.problems.push({ check: 'wrong-type', at: item.at, message: noKey });
    }
  }
  cursor.next += 1;
  return event.type === EVENT_SEQUENCE ? { kind: 'list', items, at } : { kind: 'mapping', entries, at };
};

const noKey = 'a key is one word, not a list or a mapping; a variable is written `${name}`';

const scalarIn = (event: ScalarEvent, cursor: Cursor): ScalarNode => {
  const { valueStart, valueEnd, style, tagStart, anchorStart } = event;
  const { source } = cursor;
  if (valueStart < 0) {
    const at = Math.max(cursor.end, tagStart, anchorStart - 1);
    cursor.end = at;
    return { kind: 'scalar', text: tagStart < 0 ? null : '', at };
  }
  const text = event.fast ? source.slice(valueStart, valueEnd) : getScalarValue(source, event);
  cursor.end = valueEnd;
  const isPlain = style === SCALAR_STYLE_PLAIN;
  const isNull = isPlain && tagStart < 0 && text.length < 5 && nulls.has(text);
  const isQuoted = !isPlain && style !== SCALAR_STYLE_LITERAL_BLOCK && style !== SCALAR_STYLE_FOLDED_BLOCK;
  return { kind: 'scalar', text: isNull ? null : text, at: isQuoted ? valueStart - 1 : valueStart };
};

const nulls: ReadonlySet<string> = new Set(['', '~', 'null', 'Null', 'NULL']);
