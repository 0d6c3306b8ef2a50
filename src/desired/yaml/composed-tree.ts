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
import { diagnosticAt, quote, type Diagnostic, type Position } from '../diagnostic.ts';
import {
  Anchors,
  coreValue,
  maxRepeatedValues,
  type MappingEntry,
  type ScalarNode,
  type YamlNode,
} from './tree.ts';

/** Converts the library's nodes to our own. Unusable aliases and tags become diagnostics. */
export const treeOf = (
  contents: ParsedNode | null,
  lines: LineCounter,
): { root: YamlNode | null; diagnostics: Diagnostic[]; isTooMuch: boolean } => {
  const context: Context = { lines, diagnostics: [], anchors: new Anchors() };
  const root = contents === null ? null : nodeOf(contents, context);
  return { root, diagnostics: context.diagnostics, isTooMuch: context.anchors.isTooMuch };
};

interface Context {
  readonly lines: LineCounter;
  readonly diagnostics: Diagnostic[];
  readonly anchors: Anchors;
}

const nodeOf = (node: ParsedNode, context: Context): YamlNode => {
  const at = positionOf(node, context);
  if (isAlias(node)) return aliased(node, at, context);
  if (node.tag !== undefined && !knownTags.has(node.tag)) context.diagnostics.push(unknownTag(node.tag, at));
  const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
  if (anchor !== undefined) context.anchors.open(anchor);
  const result = plainNodeOf(node, at, context);
  if (anchor !== undefined) context.anchors.close(anchor, result);
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
    context.diagnostics.push(
      diagnosticAt(
        'wrong-type',
        key,
        'a key is one word, not a list or a mapping; a variable is written `${name}`',
      ),
    );
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

/** `!` is YAML's non-specific tag. The core tags change nothing: values are typed by their place. */
const knownTags: ReadonlySet<string> = new Set([
  '!',
  ...['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
]);

const unknownTag = (tag: string, at: Position): Diagnostic =>
  diagnosticAt(
    'yaml-tag',
    at,
    `the tag ${quote(tag.replace('tag:yaml.org,2002:', '!!'))} is not supported; remove it, or quote the whole text if the \`!\` belongs to it`,
  );

const aliased = ({ source: name }: Alias, at: Position, { anchors, diagnostics }: Context): YamlNode => {
  const target = anchors.find(name);
  if (target) {
    const wasTooMuch = anchors.isTooMuch;
    const repeated = anchors.repeat(target, at);
    if (repeated === null && !wasTooMuch) diagnostics.push(diagnosticAt('yaml-alias', at, tooManyAliases));
    return repeated ?? { kind: 'unread', ...at };
  }
  // The library itself reports a lone `*`.
  if (name !== '') diagnostics.push(diagnosticAt('yaml-alias', at, aliasMessage(name, target)));
  return { kind: 'unread', ...at };
};

const tooManyAliases = `aliases repeat more than ${maxRepeatedValues} values: write a list, or a fragment`;

const aliasMessage = (name: string, target: null | undefined): string => {
  if (target === null) return `the alias \`*${name}\` is inside the value that it refers to`;
  const text = quote(`*${name}`);
  return `unquoted, ${text} is an alias in YAML, and nothing is named \`&${name}\` before it; if it is text, quote it: "*${name}"`;
};
