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
} from 'js-yaml';
import type { CheckId } from './check-id.ts';
import { quote } from './problem.ts';

/** A value and the offset at which it stands. Every scalar is text; what it means is for the field to say. */
export type YamlNode =
  /** Quotes and escapes undone; null if it is left out, or a plain `null` or `~`. */
  | { readonly kind: 'scalar'; readonly text: string | null; readonly at: number }
  | { readonly kind: 'list'; readonly items: readonly YamlNode[]; readonly at: number }
  | MappingNode;

export interface MappingNode {
  readonly kind: 'mapping';
  readonly entries: readonly { readonly key: string; readonly at: number; readonly value: YamlNode }[];
  readonly at: number;
}

export interface YamlProblem {
  readonly check: CheckId;
  readonly at: number;
  readonly message: string;
}

/** A template needs six levels. */
export const maxDepth = 64;

/** The documents of a text in YAML 1.2, without merge keys. Throws the YAMLException of the first syntax error. */
export const parseYaml = (source: string) => {
  const events = parseEvents(source, { maxDepth });
  let next = 0;
  /** The end of what was read so far. */
  let end = 0;
  const problems: YamlProblem[] = [];
  /** In this document; null while an anchor's own node is being read. */
  const anchors = new Map<string, YamlNode | null>();

  const nodeIn = (): YamlNode => {
    const event = events[next]!;
    next += 1;
    if (event.type === EVENT_ALIAS) {
      end = event.anchorEnd;
      return aliased(source.slice(event.anchorStart, event.anchorEnd), event.anchorStart - 1);
    }
    if (!('tagStart' in event)) return { kind: 'scalar', text: null, at: end };
    const tag = event.tagStart < 0 ? '!' : source.slice(event.tagStart, event.tagEnd);
    if (!knownTag.test(tag))
      problems.push({ check: 'yaml-tag', at: event.tagStart, message: unknownTag(tag) });
    const name = event.anchorStart < 0 ? null : source.slice(event.anchorStart, event.anchorEnd);
    if (name !== null) anchors.set(name, null);
    const node = event.type === EVENT_SCALAR ? scalarIn(event) : collectionIn(event);
    if (name !== null) anchors.set(name, node);
    return node;
  };

  /** What an alias stands for, at its place. One that stands for nothing is probably meant as a text. */
  const aliased = (name: string, at: number): YamlNode => {
    const target = anchors.get(name);
    if (target) return { ...target, at };
    const message =
      target === null
        ? `the alias \`*${name}\` is inside the value that it refers to`
        : `unquoted, ${quote(`*${name}`)} is an alias in YAML, and nothing is named \`&${name}\` before it; if it is text, quote it: "*${name}"`;
    problems.push({ check: 'yaml-alias', at, message });
    return { kind: 'scalar', text: `*${name}`, at };
  };

  const collectionIn = ({ type, start: at }: { readonly type: number; readonly start: number }): YamlNode => {
    end = Math.max(end, at);
    const items: YamlNode[] = [];
    const entries: MappingNode['entries'][number][] = [];
    while (events[next]!.type !== EVENT_POP) {
      const isItem = type === EVENT_SEQUENCE;
      const isNone = isItem && isLeftOut(events[next]!);
      const item = isNone ? leftOut(items.length === 0 ? at : dashIn(source, end)) : nodeIn();
      if (isItem) items.push(item);
      else {
        const value = nodeIn();
        if (item.kind === 'scalar') entries.push({ key: item.text ?? '', at: item.at, value });
        else problems.push({ check: 'wrong-type', at: item.at, message: noKey });
      }
    }
    next += 1;
    return type === EVENT_SEQUENCE ? { kind: 'list', items, at } : { kind: 'mapping', entries, at };
  };

  const leftOut = (dash: number): YamlNode => {
    next += 1;
    end = dash + 1;
    return { kind: 'scalar', text: null, at: dash };
  };

  const scalarIn = (event: ScalarEvent): YamlNode => {
    const { valueStart, valueEnd, style, tagStart, anchorStart } = event;
    if (valueStart < 0) {
      end = Math.max(end, tagStart, anchorStart - 1);
      return { kind: 'scalar', text: tagStart < 0 ? null : '', at: end };
    }
    const text = event.fast ? source.slice(valueStart, valueEnd) : getScalarValue(source, event);
    end = valueEnd;
    const isPlain = style === SCALAR_STYLE_PLAIN;
    const isNull = isPlain && tagStart < 0 && text.length < 5 && nulls.has(text);
    const isQuoted = !isPlain && style !== SCALAR_STYLE_LITERAL_BLOCK && style !== SCALAR_STYLE_FOLDED_BLOCK;
    return { kind: 'scalar', text: isNull ? null : text, at: isQuoted ? valueStart - 1 : valueStart };
  };

  const roots: YamlNode[] = [];
  while (next < events.length) {
    const event = events[next]!;
    next += 1;
    anchors.clear();
    const root = nodeIn();
    next += 1;
    roots.push(root);
    for (const directive of 'directives' in event ? event.directives : [])
      if (directive.kind === 'yaml' && directive.version !== '1.2') {
        const at = Math.max(source.lastIndexOf('%YAML', root.at), 0);
        problems.push({ check: 'yaml-version', at, message: wrongVersion(directive.version) });
      }
  }
  return { roots, problems };
};

type ScalarEvent = Parameters<typeof getScalarValue>[1];

/** A node of which nothing stands there, neither a value nor an anchor or a tag. */
const isLeftOut = (event: ReturnType<typeof parseEvents>[number]): boolean =>
  event.type === EVENT_SCALAR && Math.max(event.valueStart, event.anchorStart, event.tagStart) < 0;

/** Where an item of a list begins of which only its `-` is there, on a line after this offset. */
const dashIn = (source: string, from: number): number => {
  const dash = /^[ \t]*(?:-[ \t]+)*-(?=\s|$)/gm;
  dash.lastIndex = from;
  dash.exec(source);
  return dash.lastIndex - 1;
};

/** `!` is YAML's non-specific tag. The core tags change nothing, since the field decides. */
const knownTag = /^(?:!|(?:!!|!?<?tag:yaml\.org,2002:)(?:str|int|float|bool|null|map|seq)>?)$/;

const unknownTag = (tag: string): string =>
  `the tag ${quote(tag.replace('tag:yaml.org,2002:', '!!'))} is not supported; remove it, or quote the whole text if the \`!\` belongs to it`;

const noKey = 'a key is one word, not a list or a mapping; a variable is written `${name}`';

const nulls: ReadonlySet<string> = new Set(['', '~', 'null', 'Null', 'NULL']);

const wrongVersion = (version: string): string =>
  `these files are YAML 1.2, where \`no\` and \`010\` are text and number, not ${quote(version)}: remove the line`;
