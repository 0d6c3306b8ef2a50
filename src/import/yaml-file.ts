import {
  CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { DesiredRecord, Place } from '../model/record.ts';
import type { DesiredTemplate } from '../model/template.ts';
import { escaped, scalarText } from './entry.ts';

/** A template or a fragment, with the file that it is in, so that parts of its text can be changed. */
export interface YamlFile {
  readonly path: string;
  /** As it is on disk, with its line ends. */
  readonly text: string;
  readonly eol: '\n' | '\r\n';
  readonly root: YAMLMap.Parsed;
  /** Null if the file has none, or one that is not a list. */
  readonly list: YAMLSeq.Parsed | null;
  /** Those of its list. */
  readonly entries: readonly FileEntry[];
}

export interface FileEntry {
  readonly index: number;
  readonly node: ParsedNode;
  /** What it describes, in its order. */
  readonly records: readonly DesiredRecord[];
}

/** The part of a text from `start` to `end` is replaced. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Why an entry cannot be changed. */
export class Refusal extends Error {}

/** Null for a file without a mapping, which describes nothing. */
export const openFile = (
  path: string,
  text: string,
  { source, records }: DesiredTemplate,
): YamlFile | null => {
  const parsed = parseAllDocuments(text, { schema: 'failsafe', keepSourceTokens: true });
  const roots = ('empty' in parsed ? [] : parsed).flatMap(({ contents }) =>
    isMap(contents) ? contents : [],
  );
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const offsetOf = ({ line, column }: Place): number => (lineStarts[line - 1] ?? text.length) + column - 1;
  const start = path === source.file ? offsetOf(source) : 0;
  const root = roots.findLast(({ range }) => range[0] <= start) ?? roots[0];
  if (root === undefined) return null;
  const found = valueOf(root, 'records');
  const list = isSeq(found) ? found : null;
  const own = records.filter((record) => record.source.file === path);
  let next = own.findIndex((record) => offsetOf(record.source) >= root.range[0]);
  const entries = (list?.items ?? []).map((node, index): FileEntry => {
    const first = next;
    while (next >= 0 && next < own.length && offsetOf(own[next]!.source) < node.range[2]) next += 1;
    return { index, node, records: first < 0 ? [] : own.slice(first, next) };
  });
  return { path, text, eol: text.includes('\r\n') ? '\r\n' : '\n', root, list, entries };
};

export const valueOf = (map: YAMLMap.Parsed, key: string): ParsedNode | null | undefined =>
  map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key)?.value;

/** Another value for a scalar, byte for byte the same around it. Throws a `Refusal`. */
export const replaceScalar = (node: ParsedNode | null, value: string | number): Splice => {
  if (isAlias(node)) throw new Refusal(`its value is that of \`&${node.source}\``);
  const token = node?.srcToken;
  if (!isScalar(node) || !CST.isScalar(token ?? null)) throw new Refusal('its value is no text');
  const [variable] = /(?<!\$)\$\{[^{}]*\}/.exec(String(node.value)) ?? [];
  if (variable !== undefined) throw new Refusal(`its value comes from the variable \`${variable}\``);
  const written = writtenAs(value);
  const made = structuredClone(token!);
  const isQuoted = made.type.endsWith('quoted-scalar');
  const type = written.startsWith('"')
    ? 'QUOTE_DOUBLE'
    : written.startsWith("'") && !isQuoted
      ? 'QUOTE_SINGLE'
      : null;
  CST.setScalarValue(made, typeof value === 'string' ? escaped(value) : String(value), {
    inFlow: true,
    ...(type && { type }),
  });
  // With invisible characters escaped.
  if (type === 'QUOTE_DOUBLE' && 'source' in made) made.source = written;
  return {
    start: token!.offset,
    end: token!.offset + CST.stringify(token!).length,
    text: CST.stringify(made),
  };
};

const writtenAs = (value: string | number): string =>
  scalarText(typeof value === 'string' ? escaped(value) : value);

/** A field of an entry, which may not have it yet; null takes it away. Throws a `Refusal`. */
export const setField = (
  file: YamlFile,
  map: YAMLMap.Parsed,
  key: string,
  value: string | number | null,
): Splice[] => {
  const at = map.items.findIndex((pair) => isScalar(pair.key) && String(pair.key.value) === key);
  if (value !== null && at >= 0) return [replaceScalar(map.items[at]!.value, value)];
  if (value === null && at < 0) throw new Refusal(`the service states no \`${key}\``);
  if (value === null) return removeParts(file, map, new Set([at]));
  const field = `${key}: ${writtenAs(value)}`;
  const end = partsOf(map).at(-1)![1];
  if (map.flow === true) return [{ start: end, end, text: `, ${field}` }];
  return [insertLine(file, end, ' '.repeat(columnOf(file, map.range[0])) + field)];
};

/** Some items of a list, or fields of a mapping: whole lines, with the comments directly above, or between commas. */
export const removeParts = (
  file: YamlFile,
  collection: YAMLMap.Parsed | YAMLSeq.Parsed,
  removed: ReadonlySet<number>,
): Splice[] => {
  const parts = partsOf(collection);
  const firstKept = parts.findIndex((_, index) => !removed.has(index));
  return [...removed].map((index) => {
    const [start, end] = parts[index]!;
    const next = parts[index + 1]?.[0] ?? end;
    const isBefore = firstKept < 0 || index < firstKept;
    // The first field of an entry may stand beside its dash.
    if (isBefore && (collection.flow === true || (isMap(collection) && next > end)))
      return { start, end: next, text: '' };
    if (collection.flow === true) return { start: parts[index - 1]![1], end, text: '' };
    const above = file.text.slice(index === 0 ? 0 : lineAfter(file, parts[index - 1]![1]), start);
    const [own = ''] = /(?:^[ \t]*#.*\n)*[ \t]*(?![^])/m.exec(above) ?? [];
    return { start: start - own.length, end: lineAfter(file, end), text: '' };
  });
};

/** A new entry in braces: a line after another one, or at the end of a list in brackets. */
export const addEntry = (file: YamlFile, after: number, entry: string, isFirst: boolean): Splice => {
  const { list, root } = file;
  const parts = list ? partsOf(list) : [];
  if (list?.flow === true && (parts.length > 0 || root.flow === true)) {
    const at = parts.at(-1)?.[1] ?? list.range[0] + 1;
    return { start: at, end: at, text: isFirst && parts.length === 0 ? entry : `, ${entry}` };
  }
  const beside = parts[after];
  return beside === undefined
    ? insertLine(file, recordsPart(file)[1], `  - ${entry}`)
    : insertLine(file, beside[1], `${' '.repeat(columnOf(file, beside[0]))}- ${entry}`);
};

/** What a list without entries needs to get its first ones, or one with entries when it loses them all. */
export const headOf = (file: YamlFile, isEmptied: boolean): Splice[] => {
  const { list, root, text } = file;
  if (root.flow === true || (isEmptied ? list?.flow === true : (list?.items.length ?? 0) > 0)) return [];
  if (valueOf(root, 'records') === undefined) return [insertLine(file, recordsPart(file)[1], 'records:')];
  const start = text.indexOf(':', recordsPart(file)[0]) + 1;
  return [isEmptied ? { start, end: start, text: ' []' } : { start, end: list?.range[1] ?? start, text: '' }];
};

/** The key of the records with its value; the last key if there are none. */
const recordsPart = ({ root }: YamlFile): readonly [number, number] =>
  partsOf(root).at(root.items.findIndex(({ key }) => String(key) === 'records'))!;

/** A line after the one in which something ends. */
const insertLine = (file: YamlFile, end: number, line: string): Splice => {
  const at = lineAfter(file, end);
  return { start: at, end: at, text: file.text[at - 1] === '\n' ? line + file.eol : file.eol + line };
};

const lineAfter = ({ text }: YamlFile, offset: number): number => {
  if (text[offset - 1] === '\n') return offset;
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
};

const columnOf = ({ text }: YamlFile, offset: number): number =>
  offset - text.lastIndexOf('\n', offset - 1) - 1;

/** From the dash or the key to the end of the value. */
const partsOf = (collection: YAMLMap.Parsed | YAMLSeq.Parsed): (readonly [number, number])[] => {
  if (isMap(collection))
    return collection.items.map(({ key, value }) => [
      key.range[0],
      Math.max(key.range[1], value?.range[1] ?? 0),
    ]);
  const token = collection.srcToken;
  return collection.items.map(({ range }, index) => {
    const marks = token?.type === 'block-seq' ? token.items[index]?.start : undefined;
    return [marks?.find(({ type }) => type === 'seq-item-ind')?.offset ?? range[0], range[1]];
  });
};
