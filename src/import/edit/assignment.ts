import { isAlias, isScalar, visit, type Alias, type ParsedNode, type Scalar } from 'yaml';
import { addField } from './parts.ts';
import type { Splice } from './splices.ts';
import {
  aliasesOf,
  asList,
  asMap,
  isParsed,
  resolved,
  startOf,
  valueOfKey,
  type EntryNode,
  type EditableDocument,
} from './yaml-file.ts';

/** A value that a field of an entry gets, or an element of the list in its `content`. */
export interface Assignment {
  readonly entry: EntryNode;
  readonly key: string;
  readonly element?: number;
  /** As it is written into a file. */
  readonly value: string;
}

/** The value that an entry takes from elsewhere: a variable, an anchor, or the template's TTL. */
export interface Definition {
  readonly in: EditableDocument;
  readonly node: Scalar.Parsed;
}

/** The template's own document and its fragments, with the names that no file can define. */
export interface Scope {
  readonly own: EditableDocument;
  readonly fragments: readonly EditableDocument[];
  readonly overridden: ReadonlySet<string>;
}

/** Null if the entry itself has the value, or if it is not clear what it comes from. */
export const definitionOf = ({ entry, key, element }: Assignment, scope: Scope): Definition | null => {
  const field = valueOfKey(entry.map, key);
  let place: EditableDocument = entry.in;
  let node: ParsedNode | null | undefined = field;
  let isShared = false;
  if (field === undefined && key === 'ttl')
    [place, node, isShared] = [scope.own, valueOfKey(scope.own.root, 'ttl'), true];
  if (element !== undefined) {
    isShared = isSharedNode(field, place);
    node = asList(resolved(field, place))?.items[element];
  }
  for (let steps = 0; node && steps < maxSteps; steps += 1) {
    if (isAlias(node)) {
      [node, isShared] = [resolved(node, place), true];
      continue;
    }
    if (!isScalar(node)) return null;
    const name = /^\$\{([^{}]+)\}$/.exec(String(node.value))?.[1];
    if (name === undefined) return isShared || isSharedNode(node, place) ? { in: place, node } : null;
    const defined = scope.overridden.has(name) ? [] : variablesCalled(name, scope);
    const [only] = defined;
    if (!only || defined.length > 1) return null;
    ({ in: place, node } = only);
    isShared = true;
  }
  return null;
};

/** More than anybody nests; variables that use each other in a circle are an error. */
const maxSteps = 20;

export const isSharedNode = (node: ParsedNode | null | undefined, place: EditableDocument): boolean =>
  isAlias(node) || (node != null && aliasesOf(node, place).length > 0);

const variablesCalled = (
  name: string,
  { own, fragments }: Scope,
): { in: EditableDocument; node: ParsedNode | null }[] =>
  [own, ...fragments].flatMap((place) => {
    const vars = asMap(valueOfKey(place.root, 'vars'));
    const node = vars && valueOfKey(vars, name);
    return node === undefined ? [] : [{ in: place, node }];
  });

/** The value at its definition, for all that use it. */
export const define = ({ in: { file }, node }: Definition, value: string): Splice =>
  replaceScalar(node, value, file);

/** The value in its entry alone; aliases of what stood there keep the old value. */
export const assign = (
  { entry, key, element, value }: Assignment,
  unused: ReadonlySet<Alias.Parsed>,
): Splice[] => {
  const { file } = entry.in;
  const field = valueOfKey(entry.map, key);
  if (field === undefined) return [addField(entry.map, key, value, file)];
  const node = element === undefined ? field : (asList(field)?.items[element] ?? field);
  if (node === null) {
    const pair = entry.map.items.find((one) => String(one.key) === key)!;
    const colon = file.text.indexOf(':', pair.key.range[1]) + 1;
    return [{ start: colon, end: colon, text: ` ${value}` }];
  }
  return [...keepAliases(node, entry.in, unused), replaceNode(node, value, entry.in, unused)];
};

/** Moves the anchors below a node that goes away to their first alias that stays. */
export const keepAliases = (
  node: ParsedNode,
  place: EditableDocument,
  unused: ReadonlySet<Alias.Parsed>,
): Splice[] => {
  const splices: Splice[] = [];
  const { text } = place.file;
  visit(node, {
    Node: (_, anchored) => {
      if (!isParsed(anchored)) return;
      const first = aliasesOf(anchored, place).find((alias) => !unused.has(alias));
      if (!first) return;
      const [start, end] = first.range;
      splices.push({ start, end, text: `&${first.source} ${inOneLine(anchored, text)}` });
    },
  });
  return splices;
};

/** The text of a node as it can stand in a line. */
export const inOneLine = (node: ParsedNode, text: string): string => {
  const list = asList(node);
  if (list) return `[${list.items.map((item) => inOneLine(item, text)).join(', ')}]`;
  return text.slice(node.range[0], node.range[1]).trim();
};

/** Its anchor stays while no alias of it does, since then nothing depends on it. */
export const replaceNode = (
  node: ParsedNode,
  value: string,
  place: EditableDocument,
  unused: ReadonlySet<Alias.Parsed>,
): Splice => {
  const { text } = place.file;
  const keepsAnchor = isAlias(node) || !aliasesOf(node, place).some((alias) => !unused.has(alias));
  if (isScalar(node) && keepsAnchor) return replaceScalar(node, value, place.file);
  const end = node.range[0] + text.slice(node.range[0], node.range[1]).trimEnd().length;
  return { start: keepsAnchor ? node.range[0] : startOf(node, text), end, text: value };
};

const replaceScalar = (
  node: Scalar.Parsed,
  value: string,
  { text, eol }: EditableDocument['file'],
): Splice => {
  const [start, end] = node.range;
  if (start === end) return { start, end, text: /\s/.test(text[start - 1] ?? '') ? value : ` ${value}` };
  const isBlockText = text[end - 1] === '\n';
  return { start, end, text: isBlockText ? `${value}${eol}` : inQuotesOf(text[start]!, value) };
};

/** In the quotes that were there, if the value needs none. */
const inQuotesOf = (quote: string, value: string): string =>
  /^["']$/.test(quote) && /^[\w.-]+$/.test(value) ? `${quote}${value}${quote}` : value;
