import { isMap, isSeq, LineCounter, parseDocument, visit, type ParsedNode, type YAMLSeq } from 'yaml';
import type { DesiredRecord } from '../model/record.ts';
import type { DesiredTemplate, IgnoreRule } from '../model/template.ts';
import { entryOf, recordKey } from '../plan/entry.ts';
import { commentBeside, entriesIn, lineAfter, linesOf, type EntryList } from './existing-entries.ts';

/** What is kept of a file when it is rewritten. */
export interface Existing {
  readonly sections: readonly FileSection[];
  /** Comment and blank lines after the last section. */
  readonly tail: readonly string[];
  /** By record key; records of one entry share theirs. */
  readonly comments: ReadonlyMap<string, RecordComments>;
  readonly ignore: readonly IgnoreRule[];
  /** The records of its fragments, which stay as they are. */
  readonly shared: readonly DesiredRecord[];
  /** The list of records: entries that still apply are kept. */
  readonly list: EntryList | null;
  readonly name: string;
  readonly id: number | null;
  /** The text of the file. */
  readonly source: string;
}

/** A key of the template's document with its value. */
export interface FileSection {
  readonly key: string;
  /** Comment and blank lines before it. */
  readonly lead: readonly string[];
  readonly lines: readonly string[];
  /** The comment beside a scalar or beside the key of the records, with its `#`. */
  readonly comment: string;
}

export interface RecordComments {
  /** Without indent; may start with a blank line. */
  readonly lead: readonly string[];
  /** The comment at the end of the entry, with its `#`. */
  readonly trailing: string;
}

/**
 * The first line of the comment about records that the file cannot describe. That comment is written anew
 * each time.
 */
export const remarksTitle = '# What this file cannot say of the template at the service:';

export const emptySection = (key: string): FileSection => ({ key, lead: [], lines: [], comment: '' });

/** For a file that does not exist yet. */
export const nothingYet: Existing = {
  sections: [emptySection('template'), emptySection('records')],
  tail: [],
  comments: new Map(),
  ignore: [],
  shared: [],
  list: null,
  name: '',
  id: null,
  source: '',
};

/**
 * What can be kept of a valid file; or why rewriting it would lose something. Takes the text that the loader
 * reads and the template that it describes.
 */
export const existingIn = (
  source: string,
  described: DesiredTemplate,
): Existing | { readonly refusal: string } => {
  const isOwn = (record: DesiredRecord): boolean => record.source.file === described.source.file;
  const desired = { ...described, records: described.records.filter(isOwn) };
  const text = withoutRemarks(source.replaceAll('\r\n', '\n'));
  const lines = new LineCounter();
  const { contents, errors } = parseDocument(text, {
    schema: 'failsafe',
    lineCounter: lines,
    keepSourceTokens: true,
  });
  if (errors.length > 0) return { refusal: 'it holds several documents' };
  const parts = isMap(contents)
    ? contents.items.map(({ key, value }) => ({ key: String(key), value, start: key.range[0] }))
    : [];
  if (parts.length === 0 || parts.some(({ start }) => start > 0 && text[start - 1] !== '\n')) {
    return { refusal: 'its keys are not at the beginning of lines' };
  }
  const { sections, tail } = sectionsOf(text, parts);
  const records = parts.find(({ key }) => key === 'records')?.value;
  const besideKey = sections.find(({ key }) => key === 'records')?.comment ?? '';
  return {
    sections,
    tail,
    comments: isSeq(records) ? commentsOf(text, records, besideKey, desired, lines) : new Map(),
    ignore: desired.ignore,
    shared: described.records.filter((record) => !isOwn(record)),
    list: isSeq(records) ? listIn(text, parts, records, desired, lines) : null,
    name: desired.template,
    id: desired.id,
    source,
  };
};

const listIn = (
  text: string,
  parts: readonly ExistingPart[],
  records: YAMLSeq.Parsed,
  desired: DesiredTemplate,
  lines: LineCounter,
): EntryList => {
  const start = parts.find(({ value }) => value === records)?.start ?? 0;
  const section = [start, lineAfter(text, records.range[1])] as const;
  return entriesIn(text, section, records, desired, lines);
};

/** Keeps the lines, so that positions stay the same. */
const withoutRemarks = (source: string): string => {
  let isRemark = false;
  return source
    .split('\n')
    .map((line) => {
      isRemark = line === remarksTitle || (isRemark && line.startsWith('#'));
      return isRemark ? '' : line;
    })
    .join('\n');
};

interface ExistingPart {
  readonly key: string;
  readonly value: ParsedNode | null;
  readonly start: number;
}

/** Lines between a value and the next key are the lead of that key, or the tail of the file. */
const sectionsOf = (text: string, parts: readonly ExistingPart[]): Pick<Existing, 'sections' | 'tail'> => {
  const ends = parts.map(({ value, start }) => lineAfter(text, value?.range[1] ?? start));
  const leads = [...parts.map(({ start }) => start), text.length].map((start, index) =>
    linesOf(text.slice(ends[index - 1] ?? 0, start)),
  );
  const sections = parts.map(({ key, value, start }, index) => {
    const lines = linesOf(text.slice(start, ends[index]));
    const besideKey = /^records:[ \t]+(#.*)$/.exec(lines[0]!)?.[1];
    return { key, lead: leads[index]!, lines, comment: besideKey ?? commentBeside(text, value) };
  });
  return { sections, tail: withoutLastBlanks(leads.at(-1)!) };
};

const withoutLastBlanks = (lines: readonly string[]): string[] =>
  lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);

const commentsOf = (
  text: string,
  records: YAMLSeq.Parsed,
  besideKey: string,
  { records: desired }: DesiredTemplate,
  { lineStarts }: LineCounter,
): Map<string, RecordComments> => {
  const comments = new Map<string, RecordComments>();
  let next = 0;
  for (const [index, item] of records.items.entries()) {
    const before = [...(index === 0 ? firstBefore(records, besideKey) : []), ...linesIn(item.commentBefore)];
    const trailing = commentBeside(text, item);
    const after = linesIn(item.comment).slice(trailing === '' ? 0 : 1);
    const lead = [...before, ...commentsInside(item), ...after];
    const own = { lead: item.spaceBefore && lead.length > 0 ? ['', ...lead] : lead, trailing };
    for (; next < desired.length; next += 1) {
      const record = desired[next]!;
      const offset = lineStarts[record.source.line - 1]! + record.source.column - 1;
      if (offset >= item.range[2]) break;
      comments.set(recordKey(entryOf(record)), own);
    }
  }
  return comments;
};

/** The library treats a comment beside the key as the first line before the first entry. */
const firstBefore = ({ commentBefore }: YAMLSeq.Parsed, besideKey: string): string[] =>
  linesIn(commentBefore).slice(besideKey === '' ? 0 : 1);

const commentsInside = (item: ParsedNode): string[] => {
  const lines: string[] = [];
  visit(item, {
    Node: (_, node) => {
      if (node !== item) lines.push(...linesIn(node.commentBefore), ...linesIn(node.comment));
    },
  });
  return lines;
};

const linesIn = (comment: string | null | undefined): string[] =>
  (comment ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => `#${line}`);
