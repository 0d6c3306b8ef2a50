import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Alias,
  type LineCounter,
  type Pair,
  type ParsedNode,
} from 'yaml';
import { faultAt, quote, type Fault, type Position } from './fault.ts';

/** What a document holds, every value with its position. An alias stands as a copy of what it names. */
export type YamlNode = ScalarNode | ListNode | MappingNode | UnreadNode;

export interface ScalarNode extends Position {
  readonly kind: 'scalar';
  /** As written, quotes and escapes undone: `1.10`, `no` and `010` keep their spelling. */
  readonly text: string;
  /** As YAML 1.2 core reads it. */
  readonly value: string | number | boolean | null;
}

export interface ListNode extends Position {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
}

export interface MappingNode extends Position {
  readonly kind: 'mapping';
  readonly entries: readonly MappingEntry[];
}

/** What stands here could not be read, and that has been said. */
export interface UnreadNode extends Position {
  readonly kind: 'unread';
}

export interface MappingEntry {
  readonly key: ScalarNode;
  readonly value: YamlNode;
}

/** Values that aliases may repeat in one document, all together: far more than people write, far less than hurts. */
const maxRepeatedValues = 10_000;

/** Brings what the YAML library composed to our own form. Aliases and tags that cannot be used become faults. */
export const treeOf = (
  contents: ParsedNode | null,
  lines: LineCounter,
): { root: YamlNode | null; faults: Fault[]; isTooMuch: boolean } => {
  const context: Context = { lines, faults: [], anchors: new Map(), repeated: 0 };
  const root = contents === null ? null : nodeOf(contents, context);
  return { root, faults: context.faults, isTooMuch: context.repeated > maxRepeatedValues };
};

interface Context {
  readonly lines: LineCounter;
  readonly faults: Fault[];
  /** `null` while the anchor's own node is still being read: an alias in there would never end. */
  readonly anchors: Map<string, YamlNode | null>;
  repeated: number;
}

const nodeOf = (node: ParsedNode, context: Context): YamlNode => {
  const at = positionOf(node, context);
  if (isAlias(node)) return aliased(node, at, context);
  if (node.tag !== undefined && !knownTags.has(node.tag)) context.faults.push(unknownTag(node.tag, at));
  const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
  if (anchor !== undefined) context.anchors.set(anchor, null);
  const result = plainNodeOf(node, at, context);
  if (anchor !== undefined) context.anchors.set(anchor, result);
  return result;
};

const plainNodeOf = (node: ParsedNode, at: Position, context: Context): YamlNode => {
  const { line, column } = at;
  if (isMap(node)) {
    const entries: MappingEntry[] = [];
    for (const pair of node.items) {
      const entry = entryOf(pair, at, context);
      if (entry !== null) entries.push(entry);
    }
    return { kind: 'mapping', entries, line, column };
  }
  if (isSeq(node)) {
    return { kind: 'list', items: node.items.map((item) => nodeOf(item, context)), line, column };
  }
  const text = isScalar(node) ? (node.source ?? '') : '';
  const isPlain = isScalar(node) && node.type === 'PLAIN' && node.tag === undefined;
  return { kind: 'scalar', text, value: isPlain ? coreValue(text) : text, line, column };
};

const entryOf = (
  pair: Pair<ParsedNode, ParsedNode | null>,
  parent: Position,
  context: Context,
): MappingEntry | null => {
  const key = pair.key === null ? emptyAt(parent) : nodeOf(pair.key, context);
  const value = pair.value === null ? emptyAt(key) : nodeOf(pair.value, context);
  if (key.kind === 'scalar') return { key, value };
  if (key.kind !== 'unread')
    context.faults.push(faultAt('wrong-type', key, 'a key is one word, not a list or a mapping'));
  return null;
};

const emptyAt = ({ line, column }: Position): ScalarNode => ({
  kind: 'scalar',
  text: '',
  value: null,
  line,
  column,
});

const positionOf = (node: ParsedNode, { lines }: Context): Position => {
  const { line, col } = lines.linePos(node.range?.[0] ?? 0);
  return { line, column: col };
};

/** `!` is YAML's own way to say "no tag of its own". The plain core tags change nothing: values are read by place. */
const knownTags: ReadonlySet<string> = new Set([
  '!',
  ...['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
]);

const unknownTag = (tag: string, at: Position): Fault =>
  faultAt(
    'yaml-tag',
    at,
    `the tag ${quote(tag.replace('tag:yaml.org,2002:', '!!'))} means nothing here; remove it, or quote the whole text if the \`!\` belongs to it`,
  );

const aliased = ({ source: name }: Alias, at: Position, context: Context): YamlNode => {
  const target = context.anchors.get(name);
  if (target) return repeated(target, at, context);
  // The library itself complains about a lone `*`.
  if (name !== '') context.faults.push(faultAt('yaml-alias', at, aliasMessage(name, target)));
  return { kind: 'unread', ...at };
};

const repeated = (target: YamlNode, at: Position, context: Context): YamlNode => {
  const rest = maxRepeatedValues - context.repeated;
  if (rest >= 0) context.repeated += sizeOf(target, rest);
  if (context.repeated <= maxRepeatedValues) return { ...target, ...at };
  if (rest >= 0) {
    const message = `aliases repeat more than ${maxRepeatedValues} values: write a list, or a fragment`;
    context.faults.push(faultAt('yaml-alias', at, message));
  }
  return { kind: 'unread', ...at };
};

const aliasMessage = (name: string, target: null | undefined): string => {
  if (target === null) return `the alias \`*${name}\` stands inside what it names`;
  const text = quote(`*${name}`);
  return `unquoted, ${text} is an alias in YAML, and nothing is named \`&${name}\` before it; if it is text, quote it: "*${name}"`;
};

/** Number of values below and with a node, counted no further than it matters. */
const sizeOf = (node: YamlNode, enough: number): number => {
  if (node.kind === 'scalar' || node.kind === 'unread') return 1;
  let size = 1;
  const children = node.kind === 'list' ? node.items : node.entries.map(({ value }) => value);
  for (const child of children) {
    if (size > enough) break;
    size += sizeOf(child, enough - size);
  }
  return size;
};

const coreValue = (text: string): string | number | boolean | null => {
  if (!/^(?:$|[-+.\dfFnNtT~])/.test(text)) return text;
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text)) return Number(text);
  return text;
};
