import type { YAMLMap, YAMLSeq } from 'yaml';
import { lineAfter } from '../existing-entries.ts';
import type { Splice } from './splices.ts';
import { startOf, type YamlFile } from './yaml-file.ts';

/** A value in a line of its own, or between others in brackets. */
type Part = readonly [start: number, end: number];

/** A field of a mapping that has none of that key. */
export const addField = (
  map: YAMLMap.Parsed,
  key: string,
  value: string,
  { text, eol }: YamlFile,
): Splice => {
  const last = map.items.at(-1)!;
  const end = last.value === null ? last.key.range[1] : Math.max(last.value.range[1], last.key.range[1]);
  if (map.flow === true) return { start: end, end, text: `, ${key}: ${value}` };
  const indent = ' '.repeat(columnOf(map.range[0], text));
  return insertLines(lineAfter(text, end), [`${indent}${key}: ${value}`], { text, eol });
};

export const removeFields = (
  map: YAMLMap.Parsed,
  keys: ReadonlySet<string>,
  { text }: YamlFile,
): Splice[] => {
  const parts = map.items.map(({ key, value }): Part => [
    key.range[0],
    Math.max(key.range[1], value?.range[1] ?? 0),
  ]);
  const removed = new Set(map.items.flatMap(({ key }, index) => (keys.has(String(key)) ? index : [])));
  if (map.flow === true) return removeBetween(parts, removed);
  const firstKept = parts.findIndex((_, index) => !removed.has(index));
  return [...removed].map((index) => {
    const [start, end] = parts[index]!;
    // The first key may stand beside the dash of its entry.
    if (index < firstKept) return { start, end: parts[index + 1]![0], text: '' };
    return { start: text.lastIndexOf('\n', start) + 1, end: lineAfter(text, end), text: '' };
  });
};

/** Elements of a list in brackets, or of a block list, with the comments directly above them. */
export const removeItems = (list: YAMLSeq.Parsed, removed: ReadonlySet<number>, file: YamlFile): Splice[] => {
  const { text } = file;
  if (list.flow === true)
    return removeBetween(
      list.items.map((item): Part => [startOf(item, text), item.range[1]]),
      removed,
    );
  return [...removed].map((index) => ({ ...linesOfItem(list, index, file), text: '' }));
};

/** From the comments directly above an item of a block list to the end of its last line. */
const linesOfItem = (
  list: YAMLSeq.Parsed,
  index: number,
  { text }: YamlFile,
): Pick<Splice, 'start' | 'end'> => {
  let start = text.lastIndexOf('\n', markerOf(list, index)) + 1;
  const first = index === 0 ? 0 : lineAfter(text, list.items[index - 1]!.range[1]);
  for (;;) {
    const above = text.lastIndexOf('\n', start - 2) + 1;
    if (above < first || above >= start || !/^[ \t]*#/.test(text.slice(above, start))) break;
    start = above;
  }
  return { start, end: endOfItem(list, index, text) };
};

export const endOfItem = (list: YAMLSeq.Parsed, index: number, text: string): number => {
  const next =
    list.items.length > index + 1 ? text.lastIndexOf('\n', markerOf(list, index + 1)) + 1 : text.length;
  return Math.min(lineAfter(text, list.items[index]!.range[1]), next);
};

/** The offset of an item's dash. */
export const markerOf = ({ srcToken }: YAMLSeq.Parsed, index: number): number =>
  (srcToken?.type === 'block-seq'
    ? srcToken.items[index]?.start.find(({ type }) => type === 'seq-item-ind')?.offset
    : undefined) ?? 0;

export const columnOf = (offset: number, text: string): number =>
  offset - (text.lastIndexOf('\n', offset - 1) + 1);

/** Whole lines at the beginning of a line, or after a last line without an end. */
export const insertLines = (
  at: number,
  lines: readonly string[],
  { text, eol }: Pick<YamlFile, 'text' | 'eol'>,
): Splice => {
  const isAtLine = at === 0 || text[at - 1] === '\n';
  const made = lines.map((line) => (isAtLine ? `${line}${eol}` : `${eol}${line}`)).join('');
  return { start: at, end: at, text: made };
};

/** With the commas beside them. */
const removeBetween = (parts: readonly Part[], removed: ReadonlySet<number>): Splice[] => {
  const firstKept = parts.findIndex((_, index) => !removed.has(index));
  return parts.flatMap(([start, end], index) => {
    if (!removed.has(index)) return [];
    if (firstKept < 0 || index < firstKept) return { start, end: parts[index + 1]?.[0] ?? end, text: '' };
    return { start: parts[index - 1]![1], end, text: '' };
  });
};
