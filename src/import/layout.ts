import { recordKey, type ActualEntry } from '../plan/entry.ts';
import type { AllowableCheck } from '../desired/check-id.ts';
import type { Arrangement } from './arrange.ts';
import { entryLines, valueOf } from './entry.ts';
import { scalarOf } from './scalar.ts';
import {
  emptySection,
  remarksTitle,
  type Existing,
  type RecordComments,
  type FileSection,
} from './existing.ts';

/** The contents of a file. */
export interface Contents {
  readonly name: string;
  /** Null if the name is unique. */
  readonly id: number | null;
  readonly ttl: number | null;
  readonly desired: readonly ActualEntry[];
  readonly remarks: readonly string[];
  readonly existing: Existing;
  /** Null if there is no list whose entries can be kept. */
  readonly arrangement: Arrangement | null;
}

export interface Layout {
  readonly text: string;
  /** The record of this line, counted from 1. */
  readonly recordAt: (line: number) => ActualEntry | undefined;
  /** Whether the line was in the existing file. */
  readonly isKept: (line: number) => boolean;
}

type Allow = ReadonlyMap<ActualEntry, readonly AllowableCheck[]>;

interface LayoutLine {
  readonly text: string;
  readonly record?: ActualEntry | undefined;
  readonly isKept?: boolean;
}

const layOut = (contents: Contents, allow: Allow): Layout => {
  const { existing, remarks } = contents;
  const lines: LayoutLine[] = [
    ...withMissing(existing.sections, contents.desired.length > 0).flatMap((section) => [
      ...section.lead.map((text) => ({ text })),
      ...sectionLines(section, contents, allow),
    ]),
    ...existing.tail.map((text) => ({ text })),
  ];
  if (remarks.length === 0) return layoutOf(lines);
  // Where remarks stood before, blank lines are left.
  const end = lines.findLastIndex(({ text }) => text !== '') + 1;
  const remarkLines = ['', remarksTitle, ...remarks.map((remark) => `# - ${remark}`)];
  return layoutOf([...lines.slice(0, end), ...remarkLines.map((text) => ({ text }))]);
};

const layoutOf = (lines: readonly LayoutLine[]): Layout => ({
  text: lines.map(({ text }) => `${text}\n`).join(''),
  recordAt: (line) => lines[line - 1]?.record,
  isKept: (line) => lines[line - 1]?.isKept === true,
});

/** Less than the loader's limit, so that people can still add something. */
const maxRecords = 20_000;
const maxCharacters = 1024 * 1024;

/** The template's own file, and fragments by name if one file would be too large for the loader. */
export const layOutFiles = (
  contents: Contents,
  allow: Allow,
  nameOf: (number: number) => string,
): { readonly own: Layout; readonly fragments: ReadonlyMap<string, Layout> } => {
  const groups = groupsOf(recordLines(contents, allow));
  if (groups.length <= 1) return { own: layOut(contents, allow), fragments: new Map() };
  const fragments = groups.map(
    (lines, index) => [nameOf(index + 1), layoutOf([{ text: 'records:' }, ...lines])] as const,
  );
  const { existing } = contents;
  const lines = ['include:', ...fragments.map(([name]) => `  - ${scalarOf(name)}`)];
  const sections = existing.sections.map((section) =>
    section.key === 'records' ? { ...section, key: 'include', lines } : section,
  );
  return {
    own: layOut({ ...contents, desired: [], arrangement: null, existing: { ...existing, sections } }, allow),
    fragments: new Map(fragments),
  };
};

/** Groups lines by whole records, in order. */
const groupsOf = (lines: readonly LayoutLine[]): LayoutLine[][] => {
  const groups: LayoutLine[][] = [];
  let [records, characters] = [maxRecords, 0];
  let last: ActualEntry | undefined;
  for (const line of lines) {
    if (line.record !== last && (records >= maxRecords || characters >= maxCharacters)) {
      groups.push([]);
      [records, characters] = [0, 0];
    }
    if (line.record !== last) records += 1;
    characters += line.text.length;
    last = line.record;
    groups.at(-1)!.push(line);
  }
  return groups;
};

/** Adds a section for every key that may be needed. */
const withMissing = (sections: readonly FileSection[], hasRecords: boolean): readonly FileSection[] => {
  const missing = ['id', 'ttl'].filter((name) => sections.every(({ key }) => key !== name));
  const after = sections.findLastIndex(({ key }) => key === 'template' || key === 'id') + 1;
  const lacksRecords = hasRecords && sections.every(({ key }) => key !== 'records');
  return [
    ...sections.toSpliced(after, 0, ...missing.map(emptySection)),
    ...(lacksRecords ? [emptySection('records')] : []),
  ];
};

const sectionLines = (section: FileSection, contents: Contents, allow: Allow): LayoutLine[] => {
  const { key, lines, comment } = section;
  const { existing, arrangement } = contents;
  const kept = lines.map((text) => ({ text }));
  const beside = comment === '' ? '' : ` ${comment}`;
  const single = (value: string | number | null): LayoutLine[] =>
    value === null ? [] : [{ text: `${key}: ${value}${beside}` }];
  switch (key) {
    case 'template':
      return existing.name === contents.name ? kept : single(valueOf(contents.name));
    case 'id':
      return existing.id !== null && existing.id === contents.id ? kept : single(contents.id);
    case 'ttl':
      return arrangement?.isNewTtl === false ? kept : single(contents.ttl);
    case 'records':
      if (contents.desired.length === 0) return single('[]');
      if (arrangement && existing.list?.head)
        return [...existing.list.head.map((text) => ({ text })), ...slotLines(arrangement, allow)];
      return arrangement?.isSame ? kept : [{ text: `records:${beside}` }, ...recordLines(contents, allow)];
    default:
      return kept;
  }
};

const slotLines = ({ slots, ttl }: Arrangement, allow: Allow): LayoutLine[] =>
  slots.flatMap(({ lead, lines, trailing, records, isOpen }) => {
    const before = lead.map((text): LayoutLine => ({ text }));
    if (lines && !records.some((record) => allow.has(record)))
      return [...before, ...lines.map((text): LayoutLine => ({ text, record: records[0], isKept: true }))];
    const made = records.flatMap((record, index) => {
      const stated = isOpen ? record.record.ttl : ttl;
      const entry = entryLines(record, stated, allow.get(record) ?? []);
      const comments = index === 0 && trailing !== '' ? { lead: [], trailing } : undefined;
      return withComments(entry, comments, false).map((text): LayoutLine => ({ text, record }));
    });
    return [...before, ...made];
  });

const recordLines = ({ desired, ttl, existing }: Contents, allow: Allow): LayoutLine[] => {
  const placed = new Set<RecordComments>();
  return desired.flatMap((record, index) => {
    const comments = existing.comments.get(recordKey(record));
    const own = comments === undefined || placed.has(comments) ? undefined : comments;
    if (own !== undefined) placed.add(own);
    const entry = entryLines(record, ttl, allow.get(record) ?? []);
    return withComments(entry, own, index === 0).map((text) => ({ text, record }));
  });
};

const withComments = (entry: string[], comments: RecordComments | undefined, isFirst: boolean): string[] => {
  if (comments === undefined) return entry;
  const { lead, trailing } = comments;
  const [line = '', ...more] = entry;
  const isOneLine = more.length === 0;
  const before = isOneLine || trailing === '' ? lead : [...lead, trailing];
  return [
    ...before.filter((text) => text !== '' || !isFirst).map((text) => (text === '' ? '' : `  ${text}`)),
    ...(isOneLine && trailing !== '' ? [`${line} ${trailing}`] : entry),
  ];
};
