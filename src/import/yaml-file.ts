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
  /** Null if the file has no list of records with entries in lines of their own. */
  readonly list: YAMLSeq.Parsed | null;
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
  const own = records.filter((record) => record.source.file === path);
  let next = own.findIndex((record) => offsetOf(record.source) >= root.range[0]);
  const entries = (isSeq(found) ? found.items : []).map((node, index): FileEntry => {
    const first = next;
    while (next >= 0 && next < own.length && offsetOf(own[next]!.source) < node.range[2]) next += 1;
    return { index, node, records: first < 0 ? [] : own.slice(first, next) };
  });
  return { path, text, list: isSeq(found) && found.flow !== true ? found : null, entries };
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
  const { offset: start } = token!;
  return { start, end: start + CST.stringify(token!).length, text: CST.stringify(made) };
};

const writtenAs = (value: string | number): string =>
  scalarText(typeof value === 'string' ? escaped(value) : value);

/** A field of an entry, which may not have it yet. Throws a `Refusal`, also for null, which would take it away. */
export const setField = (
  file: YamlFile,
  map: YAMLMap.Parsed,
  key: string,
  value: string | number | null,
): Splice => {
  if (value === null) throw new Refusal(`the service states no \`${key}\``);
  const known = valueOf(map, key);
  if (known !== undefined) return replaceScalar(known, value);
  const field = `${key}: ${writtenAs(value)}`;
  const last = map.items.at(-1)!;
  const end = Math.max(last.key.range[1], last.value?.range[1] ?? 0);
  return map.flow === true
    ? { start: end, end, text: `, ${field}` }
    : insertLine(file, end, ' '.repeat(columnOf(file, map.range[0])) + field);
};

/** Without an entry: whole lines, with the comments directly above. Throws a `Refusal`. */
export const removeEntry = (file: YamlFile, index: number): Splice => {
  const [start, end] = entryRange(file, index);
  const above = file.text.slice(index === 0 ? 0 : lineAfter(file, entryRange(file, index - 1)[1]), start);
  const [own = ''] = /(?:^[ \t]*#.*\n)*[ \t]*(?![^])/m.exec(above) ?? [];
  return { start: start - own.length, end: lineAfter(file, end), text: '' };
};

/** With a new entry in a line after another one. Throws a `Refusal`. */
export const addEntry = (file: YamlFile, after: number, entry: string): Splice => {
  const [start, end] = entryRange(file, after);
  return insertLine(file, end, `${' '.repeat(columnOf(file, start))}- ${entry}`);
};

/** From the dash to the end of the value. */
const entryRange = ({ list, entries }: YamlFile, index: number): readonly [number, number] => {
  if (list === null || entries.length === 0)
    throw new Refusal('the file has no list `records` of entries that begin with `-`');
  const { range } = list.items[index]!;
  const { srcToken: token } = list;
  const marks = token?.type === 'block-seq' ? token.items[index]?.start : undefined;
  return [marks?.find(({ type }) => type === 'seq-item-ind')?.offset ?? range[0], range[1]];
};

/** A line after the one in which something ends. */
const insertLine = (file: YamlFile, end: number, line: string): Splice => {
  const at = lineAfter(file, end);
  const eol = file.text.includes('\r\n') ? '\r\n' : '\n';
  return { start: at, end: at, text: file.text[at - 1] === '\n' ? line + eol : eol + line };
};

const lineAfter = ({ text }: YamlFile, offset: number): number => {
  if (text[offset - 1] === '\n') return offset;
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
};

const columnOf = ({ text }: YamlFile, offset: number): number =>
  offset - text.lastIndexOf('\n', offset - 1) - 1;
