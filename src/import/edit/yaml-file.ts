import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseAllDocuments,
  visit,
  type Alias,
  type Document,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { Place } from '../../model/record.ts';

/** A template file, parsed so that parts of its text can be changed. */
export interface YamlFile {
  readonly path: string;
  /** As it is on disk, with its line ends. */
  readonly text: string;
  readonly eol: '\n' | '\r\n';
  readonly documents: readonly EditableDocument[];
  readonly lineStarts: readonly number[];
}

export interface EditableDocument {
  readonly file: YamlFile;
  readonly root: YAMLMap.Parsed;
  readonly document: Document.Parsed;
}

/** An entry of a list of records. */
export interface EntryNode {
  readonly in: EditableDocument;
  readonly list: YAMLSeq.Parsed;
  readonly index: number;
  readonly map: YAMLMap.Parsed;
}

export const openYaml = (path: string, text: string): YamlFile => {
  const parsed = parseAllDocuments(text, { schema: 'failsafe', keepSourceTokens: true });
  const documents: EditableDocument[] = [];
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const file: YamlFile = { path, text, eol, documents, lineStarts: lineStartsOf(text) };
  for (const document of 'empty' in parsed ? [] : parsed) {
    const root = asMap(document.contents);
    if (root) documents.push({ file, root, document });
  }
  return file;
};

export const lineStartsOf = (text: string): number[] => {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
};

const byteOrderMark = '\ufeff';

/** Positions do not count a byte order mark. */
export const offsetOf = (
  { text, lineStarts }: Pick<YamlFile, 'text' | 'lineStarts'>,
  { line, column }: Omit<Place, 'file'>,
): number =>
  (lineStarts[line - 1] ?? text.length) + column - 1 + (line === 1 && text.startsWith(byteOrderMark) ? 1 : 0);

export const documentAt = ({ documents }: YamlFile, offset: number): EditableDocument | undefined =>
  documents.findLast(({ root, document }) => Math.min(root.range[0], document.range[0]) <= offset);

/** Undefined if it is an alias, or in no list of records. */
export const entryAt = (file: YamlFile, offset: number): EntryNode | undefined => {
  const found = documentAt(file, offset);
  const list = found && recordsIn(found.root);
  const index = list?.items.findIndex(({ range }) => offset < range[2]) ?? -1;
  const map = asMap(list?.items[index]);
  return found && list && map ? { in: found, list, index, map } : undefined;
};

export const recordsIn = (root: YAMLMap.Parsed): YAMLSeq.Parsed | undefined =>
  asList(valueOfKey(root, 'records'));

export const asMap = (node: unknown): YAMLMap.Parsed | undefined => (isParsedMap(node) ? node : undefined);

export const asList = (node: unknown): YAMLSeq.Parsed | undefined => (isParsedList(node) ? node : undefined);

/** The library gives every node of a parsed text its range, and says so only where it parses. */
export const isParsed = (node: unknown): node is ParsedNode => isNode(node) && node.range != null;
const isParsedMap = (node: unknown): node is YAMLMap.Parsed => isMap(node) && isParsed(node);
const isParsedList = (node: unknown): node is YAMLSeq.Parsed => isSeq(node) && isParsed(node);
export const isParsedAlias = (node: unknown): node is Alias.Parsed => isAlias(node) && isParsed(node);

export const pairOfKey = (map: YAMLMap.Parsed, key: string): YAMLMap.Parsed['items'][number] | undefined =>
  map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key);

export const valueOfKey = (map: YAMLMap.Parsed, key: string): ParsedNode | null | undefined =>
  pairOfKey(map, key)?.value;

export const resolved = (
  node: ParsedNode | null | undefined,
  { document }: EditableDocument,
): ParsedNode | null => {
  const target = isAlias(node) ? node.resolve(document) : node;
  return isParsed(target) ? target : null;
};

/** The aliases of a node, in their order. */
export const aliasesOf = (node: ParsedNode, { document }: EditableDocument): Alias.Parsed[] => {
  const anchor = anchorOf(node);
  if (anchor === undefined) return [];
  const found: Alias.Parsed[] = [];
  visit(document, {
    Alias: (_, alias) => {
      if (alias.source === anchor && alias.resolve(document) === node && isParsedAlias(alias))
        found.push(alias);
    },
  });
  return found;
};

const anchorOf = (node: ParsedNode): string | undefined => (isAlias(node) ? undefined : node.anchor);

/** The offset of a node together with its anchor. */
export const startOf = (node: ParsedNode, text: string): number => {
  const anchor = anchorOf(node);
  return anchor === undefined ? node.range[0] : text.lastIndexOf(`&${anchor}`, node.range[0]);
};
