import {
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
import { quotedText, scalarText } from './entry.ts';

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

export const openFile = (path: string, text: string, { source, records }: DesiredTemplate): YamlFile => {
  const documents = parseAllDocuments(text, { schema: 'failsafe', keepSourceTokens: true });
  const roots = [...documents].flatMap(({ contents }) => (isMap(contents) ? contents : []));
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const offsetOf = ({ line, column }: Place): number => (lineStarts[line - 1] ?? text.length) + column - 1;
  const start = path === source.file ? offsetOf(source) : 0;
  const root = roots.findLast(({ range }) => range[0] <= start) ?? roots[0];
  const found = root && valueOf(root, 'records');
  const own = records.filter((record) => record.source.file === path);
  let next = 0;
  const entries = (isSeq(found) ? found.items : []).map((node, index): FileEntry => {
    const first = next;
    while (next < own.length && offsetOf(own[next]!.source) < node.range[2]) next += 1;
    return { index, node, records: own.slice(first, next) };
  });
  return { path, text, list: isSeq(found) && found.flow !== true ? found : null, entries };
};

export const valueOf = (map: YAMLMap.Parsed, key: string): ParsedNode | null | undefined =>
  map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key)?.value;

/** A field of an entry, which may not have it yet. Throws a `Refusal`, also for null, which would take it away. */
export const setField = (
  file: YamlFile,
  map: YAMLMap.Parsed,
  key: string,
  value: string | number | null,
): Splice => {
  if (value === null) throw new Refusal(`the service states no \`${key}\``);
  const known = valueOf(map, key);
  if (known !== undefined) return replaceScalar(file, known, value);
  const field = `${key}: ${scalarText(value)}`;
  const last = map.items.at(-1)!;
  const end = Math.max(last.key.range[1], last.value?.range[1] ?? 0);
  return map.flow === true
    ? { start: end, end, text: `, ${field}` }
    : insertLine(file, end, ' '.repeat(columnOf(file, map.range[0])) + field);
};

/** Another value for a scalar, in its own quotation marks. Throws a `Refusal`. */
export const replaceScalar = (
  { text }: YamlFile,
  node: ParsedNode | null,
  value: string | number,
): Splice => {
  if (isAlias(node)) throw new Refusal(`its value is that of \`&${node.source}\``);
  const [start = 0, end = start] = node?.range ?? [];
  if (!isScalar(node) || start === end) throw new Refusal('its value is no text');
  const [variable] = /(?<!\$)\$\{[^{}]*\}/.exec(String(node.value)) ?? [];
  if (variable !== undefined) throw new Refusal(`its value comes from the variable \`${variable}\``);
  const mark = text[start]!;
  const written = /["']/.test(mark) ? quotedText(String(value), mark) : scalarText(value);
  // A text of several lines ends with the last of them.
  const [lineEnd = ''] = /\r?\n$/.exec(text.slice(start, end)) ?? [];
  return { start, end, text: written + lineEnd };
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
