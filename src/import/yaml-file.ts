import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  CST,
  parseAllDocuments,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { DesiredRecord, Place } from '../model/record.ts';
import { escaped, scalarText } from './entry.ts';

/** A template file, parsed so that parts of its text can be changed. */
export interface YamlFile {
  readonly path: string;
  /** As it is on disk, with its line ends. */
  readonly text: string;
  readonly eol: '\n' | '\r\n';
  readonly lineStarts: readonly number[];
  readonly roots: readonly YAMLMap.Parsed[];
}

/** The part of a text from `start` to `end` is replaced. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Why something cannot be changed. */
export interface Refusal {
  readonly refusal: string;
}

/** An entry of a list of records, with the records that it describes, in its order. */
export interface FileEntry {
  readonly list: YAMLSeq.Parsed;
  readonly index: number;
  readonly records: readonly DesiredRecord[];
}

export const openYaml = (path: string, text: string): YamlFile => {
  const parsed = parseAllDocuments(text, { schema: 'failsafe', keepSourceTokens: true });
  const documents = 'empty' in parsed ? [] : parsed;
  const roots = documents.flatMap(({ contents }) => (isMap(contents) ? contents : []));
  return { path, text, eol: text.includes('\r\n') ? '\r\n' : '\n', lineStarts: lineStartsOf(text), roots };
};

export const lineStartsOf = (text: string): number[] => [
  0,
  ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1),
];

/** The template or fragment at a place. */
export const rootAt = (file: YamlFile, place: Place): YAMLMap.Parsed | undefined =>
  file.roots.findLast(({ range }) => range[0] <= offsetOf(file, place)) ?? file.roots[0];

/** The entries of a document. */
export const entriesOf = (
  file: YamlFile,
  root: YAMLMap.Parsed,
  records: readonly DesiredRecord[],
): FileEntry[] => {
  const list = valueOf(root, 'records');
  if (!isSeq(list)) return [];
  const own = records
    .filter(({ source }) => source.file === file.path && rootAt(file, source) === root)
    .map((record) => ({
      record,
      index: list.items.findIndex(({ range }) => offsetOf(file, record.source) < range[2]),
    }));
  return list.items.map((_, index) => ({
    list,
    index,
    records: own.flatMap((one) => (one.index === index ? one.record : [])),
  }));
};

export const valueOf = (map: YAMLMap.Parsed, key: string): ParsedNode | null | undefined =>
  pairOf(map, key)?.value;

const pairOf = (map: YAMLMap.Parsed, key: string): YAMLMap.Parsed['items'][number] | undefined =>
  map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key);

/** Another value for a scalar, byte for byte the same around it. */
export const replaceScalar = (node: ParsedNode | null, value: string | number): Splice | Refusal => {
  if (isAlias(node)) return { refusal: `its value is that of \`&${node.source}\`` };
  const token = node?.srcToken;
  if (!isScalar(node) || !token || !CST.isScalar(token)) return { refusal: 'its value is no text' };
  const [variable] = /(?<!\$)\$\{[^{}]*\}/.exec(String(node.value)) ?? [];
  if (variable !== undefined) return { refusal: `its value comes from the variable \`${variable}\`` };
  const text = typeof value === 'string' ? escaped(value) : String(value);
  const written = scalarText(typeof value === 'string' ? text : value);
  const made = structuredClone(token);
  const isBare = !token.type.endsWith('quoted-scalar');
  const type = written.startsWith('"')
    ? 'QUOTE_DOUBLE'
    : isBare && written.startsWith("'")
      ? 'QUOTE_SINGLE'
      : null;
  CST.setScalarValue(made, text, { inFlow: true, ...(type && { type }) });
  // With invisible characters escaped.
  if (type === 'QUOTE_DOUBLE' && 'source' in made) made.source = written;
  return { start: token.offset, end: token.offset + CST.stringify(token).length, text: CST.stringify(made) };
};

/** A field of a mapping that has none of that key. */
export const addField = (
  file: YamlFile,
  map: YAMLMap.Parsed,
  key: string,
  value: number | string,
): Splice => {
  const field = `${key}: ${scalarText(typeof value === 'string' ? escaped(value) : value)}`;
  const end = partsOf(map).at(-1)![1];
  if (map.flow === true) return { start: end, end, text: `, ${field}` };
  const indent = ' '.repeat(map.range[0] - startOfLine(file, map.range[0]));
  return insertLines(file, lineAfter(file, end), [indent + field]);
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
    const next = parts[index + 1]?.[0];
    const isBefore = firstKept < 0 || index < firstKept;
    if (collection.flow === true)
      return isBefore
        ? { start, end: next ?? end, text: '' }
        : { start: parts[index - 1]![1], end, text: '' };
    // The first field of an entry may stand beside its dash.
    if (isMap(collection) && isBefore && next !== undefined) return { start, end: next, text: '' };
    const before = index === 0 ? 0 : lineAfter(file, parts[index - 1]![1]);
    return {
      start: withCommentsAbove(file, startOfLine(file, start), before),
      end: lineAfter(file, end),
      text: '',
    };
  });
};

/** New lines after an item of a list; in brackets, new items at its end. */
export const addItems = (
  file: YamlFile,
  list: YAMLSeq.Parsed,
  index: number,
  { lines, inBraces, isFirst }: { lines: readonly string[]; inBraces: string; isFirst: boolean },
): Splice => {
  const parts = partsOf(list);
  if (list.flow === true) {
    const at = parts.at(-1)?.[1] ?? list.range[0] + 1;
    return { start: at, end: at, text: isFirst ? inBraces : `, ${inBraces}` };
  }
  const [start, end] = parts[index]!;
  const indent = ' '.repeat(start - startOfLine(file, start));
  return insertLines(
    file,
    lineAfter(file, end),
    lines.map((line) => indent + line.slice(2)),
  );
};

/** Whole lines at the beginning of a line, or after a last line without an end. */
export const insertLines = ({ text, eol }: YamlFile, at: number, lines: readonly string[]): Splice => {
  const isAtLine = at === 0 || text[at - 1] === '\n';
  return { start: at, end: at, text: lines.map((line) => (isAtLine ? line + eol : eol + line)).join('') };
};

/** Of a key, where a value that is missing would stand. */
export const afterColon = ({ text }: YamlFile, root: YAMLMap.Parsed, key: string): number =>
  text.indexOf(':', pairOf(root, key)!.key.range[1]) + 1;

/** The offset after the last line of something that ends there. */
export const lineAfter = ({ text }: YamlFile, offset: number): number => {
  if (text[offset - 1] === '\n') return offset;
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
};

/** From the dash or the key to the end of the value. */
export const partsOf = (collection: YAMLMap.Parsed | YAMLSeq.Parsed): (readonly [number, number])[] => {
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

export const offsetOf = (
  { lineStarts, text }: Pick<YamlFile, 'lineStarts' | 'text'>,
  { line, column }: Pick<Place, 'line' | 'column'>,
): number => (lineStarts[line - 1] ?? text.length) + column - 1;

const startOfLine = ({ text }: YamlFile, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

const withCommentsAbove = (file: YamlFile, start: number, before: number): number => {
  const above = startOfLine(file, start - 1);
  return start > before && above >= before && above < start && /^[ \t]*#/.test(file.text.slice(above, start))
    ? withCommentsAbove(file, above, before)
    : start;
};
