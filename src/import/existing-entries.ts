import { isMap, type CST, type LineCounter, type ParsedNode, type YAMLSeq } from 'yaml';
import type { DesiredTemplate } from '../model/template.ts';
import { entryOf, recordKey, setKey } from '../plan/entry.ts';

/** One entry of a file's list of records, with its lines. */
export interface ExistingEntry {
  /** Comment and blank lines before it. */
  readonly lead: readonly string[];
  readonly lines: readonly string[];
  /** The comment at its end, with its `#`. */
  readonly trailing: string;
  readonly records: readonly EntryRecord[];
  /** Whether it states no TTL of its own. */
  readonly inheritsTtl: boolean;
}

/** A record of an entry. */
interface EntryRecord {
  readonly key: string;
  readonly setKey: string;
  readonly ttl: number | null;
}

export interface EntryList {
  /** The line of the key; null if entries have no lines of their own. */
  readonly head: readonly string[] | null;
  readonly entries: readonly ExistingEntry[];
}

/** The bounds of the list in its text, whose lines end with LF. */
type EntrySpan = readonly [start: number, end: number];

/** The entries of a list of records with their lines; without lines if several share one, as in brackets. */
export const entriesIn = (
  text: string,
  bounds: EntrySpan,
  list: YAMLSeq.Parsed,
  { records }: DesiredTemplate,
  { lineStarts }: LineCounter,
): EntryList => {
  let next = 0;
  const entries = list.items.map((item): ExistingEntry => {
    const own: EntryRecord[] = [];
    for (; next < records.length; next += 1) {
      const record = records[next]!;
      if (lineStarts[record.source.line - 1]! + record.source.column - 1 >= item.range[2]) break;
      const entry = entryOf(record);
      own.push({ key: recordKey(entry), setKey: setKey(entry), ttl: record.ttl });
    }
    const inheritsTtl = !(isMap(item) && item.has('ttl'));
    return { lead: [], lines: [], trailing: commentBeside(text, item), records: own, inheritsTtl };
  });
  return withLines(text, bounds, list, entries) ?? { head: null, entries };
};

const withLines = (
  text: string,
  [start, end]: EntrySpan,
  list: YAMLSeq.Parsed,
  entries: readonly ExistingEntry[],
): EntryList | null => {
  const markers = markersOf(list.srcToken);
  const starts = markers.map((offset) => text.lastIndexOf('\n', offset - 1) + 1);
  const isEachAlone =
    new Set(starts).size === list.items.length &&
    starts[0]! > start &&
    markers.every((offset, index) => text.slice(starts[index], offset).trim() === '');
  if (!isEachAlone) return null;
  let at = lineAfter(text, start + 1);
  const head = linesOf(text.slice(start, at));
  const placed = entries.map((entry, index) => {
    const until = Math.min(lineAfter(text, list.items[index]!.range[1]), starts[index + 1] ?? end);
    const lead = linesOf(text.slice(at, starts[index]));
    at = until;
    return { ...entry, lead, lines: linesOf(text.slice(starts[index], until)) };
  });
  return at === end ? { head, entries: placed } : null;
};

/** The offsets of the dashes of a block list. */
const markersOf = (token: CST.Token | undefined): number[] =>
  token?.type === 'block-seq'
    ? token.items.flatMap(({ start }) => start.find(({ type }) => type === 'seq-item-ind')?.offset ?? [])
    : [];

export const lineAfter = (text: string, offset: number): number => {
  if (offset === 0 || text[offset - 1] === '\n') return offset;
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
};

export const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** The comment after a value in its line; a block list or mapping has none. */
export const commentBeside = (text: string, node: ParsedNode | null): string => {
  const end = node?.range[1] ?? 0;
  if (end === 0 || text[end - 1] === '\n') return '';
  return /^[ \t]*,?[ \t]*(#.*)/.exec(text.slice(end, lineAfter(text, end)))?.[1] ?? '';
};
