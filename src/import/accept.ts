import { isAlias, isMap, isSeq, type YAMLMap } from 'yaml';
import { dataOf, type RecordData } from '../model/record.ts';
import type { DesiredState, DesiredTemplate, Problem } from '../model/template.ts';
import { maxTtl } from '../desired/schema.ts';
import { definitionOf } from '../model/types/table.ts';
import { entryOf, recordKey, setKey } from '../plan/entry.ts';
import { groupBy } from '../plan/group.ts';
import { switchOff, type Allow } from './allow.ts';
import { wantedBy, type AddRecord, type FileChange, type SetRecord } from './changes.ts';
import { entryInBraces, entryLines, shownRecord, statableTtl } from './entry.ts';
import {
  addField,
  addItems,
  afterColon,
  entriesOf,
  insertLines,
  lineAfter,
  lineStartsOf,
  offsetOf,
  openYaml,
  partsOf,
  removeParts,
  replaceScalar,
  rootAt,
  valueOf,
  type FileEntry,
  type Refusal,
  type Splice,
  type YamlFile,
} from './yaml-file.ts';

export interface AcceptInput {
  /** As its files describe it now. */
  readonly template: DesiredTemplate;
  readonly changes: readonly FileChange[];
  /** The texts of its own file and its fragments, by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** All templates of the client, now and with other texts of some files. */
  readonly before: DesiredState;
  readonly load: (texts: ReadonlyMap<string, string>) => Promise<DesiredState>;
}

export interface EditedFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

export type Accepted = { readonly files: readonly EditedFile[] } | { readonly refusals: readonly string[] };

/**
 * Changes the texts of a template's files so that they want other records, and nothing else. The result is loaded and
 * compared before it counts; what cannot be changed like that is refused with its place, and with what to write there.
 */
export const accept = async (input: AcceptInput): Promise<Accepted> => {
  const { texts, template, load, changes } = input;
  const files = new Map([...texts].map(([path, text]) => [path, openYaml(path, text)]));
  const { edits, refusals } = editsFor(input, files);
  if (refusals.length > 0) return { refusals };
  const allow: Allow<AddRecord> = new Map();
  for (;;) {
    const made = madeFiles([...edits, ...additionsTo(files.get(template.source.file)!, input, allow)]);
    const after = await load(new Map(made.map((file) => [file.path, file.after])));
    const problems = newProblems(after, input.before, made);
    if (switchOff(problems, (problem) => additionAt(problem, made), allow)) continue;
    const error = problems.find(({ severity }) => severity === 'error');
    const why = error ? `${error.message} [${error.check}]` : whyNotExact(after, input);
    if (why === null) return { files: made };
    return { refusals: changes.map((change) => byHand(change, template, why)) };
  }
};

/** What to write where, as a line for people. */
const byHand = (change: FileChange, template: DesiredTemplate, why: string): string => {
  const wanted = wantedBy(change);
  const entry = wanted === null ? '' : `- ${entryInBraces(wanted, null)}`;
  if (change.kind === 'add') return `${template.source.file}: ${why}: add ${entry}`;
  const { source } = change.desired;
  const before = shownRecord(change.desired);
  const what = wanted === null ? `remove ${before}` : `instead of ${before}, write ${entry}`;
  return `${source.file}:${source.line}: ${why}: ${what}`;
};

/** A splice of a file, and the record that it adds. */
interface FileSplice extends Splice {
  readonly file: YamlFile;
  readonly adds?: AddRecord;
}

/** The splices for records that the files have already. */
const editsFor = (
  { template, changes, before }: AcceptInput,
  files: ReadonlyMap<string, YamlFile>,
): { edits: readonly FileSplice[]; refusals: readonly string[] } => {
  const edits: FileSplice[] = [];
  const refusals: string[] = [];
  const hasNew = changes.some(({ kind }) => kind === 'add');
  const changed = new Map(
    changes.flatMap((one) => (one.kind === 'add' ? [] : [[one.desired, one] as const])),
  );
  for (const file of files.values()) {
    const sharer = before.templates.find(
      ({ source, fragments }) => source.file !== template.source.file && fragments?.includes(file.path),
    );
    for (const root of file.path === template.source.file ? [rootAt(file, template.source)] : file.roots) {
      const dropped: FileEntry[] = [];
      for (const entry of root ? entriesOf(file, root, template.records) : []) {
        const own = entry.records.map((record) => changed.get(record));
        if (own.every((change) => change === undefined)) continue;
        if (sharer === undefined && own.every((change) => change?.kind === 'remove')) dropped.push(entry);
        const found = sharer
          ? [{ refusal: `template ${sharer.template} includes this file too` }]
          : dropped.includes(entry)
            ? []
            : editsOf(file, entry, own);
        const refusal = found.find((one) => 'refusal' in one);
        if (refusal)
          refusals.push(...own.flatMap((one) => (one ? byHand(one, template, refusal.refusal) : [])));
        for (const edit of found) if (!('refusal' in edit)) edits.push({ ...edit, file });
      }
      if (dropped.length > 0)
        edits.push(...removalOf(file, root!, dropped, hasNew).map((edit) => ({ ...edit, file })));
    }
  }
  return { edits, refusals };
};

type Change = Exclude<FileChange, AddRecord> | undefined;

/** For an entry that stays, the change of each of its records. */
const editsOf = (
  file: YamlFile,
  { list, index, records }: FileEntry,
  own: readonly Change[],
): (Splice | Refusal)[] => {
  const map = list.items[index];
  if (isAlias(map)) return [{ refusal: `it is a copy of \`&${map.source}\`` }];
  const content = isMap(map) ? valueOf(map, 'content') : undefined;
  if (!isMap(map) || (records.length > 1 && !isSeq(content)))
    return [{ refusal: 'it is no entry of its own' }];
  const wanted = records.map((record, at) => (own[at] ? wantedBy(own[at]) : record));
  const edits: (Splice | Refusal)[] = [];
  for (const field of ['name', 'priority', 'ttl'] as const) {
    if (!own.some((one) => one?.kind === 'set' && one.fields.includes(field))) continue;
    const [value = null, ...others] = new Set(wanted.flatMap((one) => (one ? [one[field]] : [])));
    if (others.length > 0) edits.push({ refusal: `the records of this entry share its \`${field}\`` });
    else edits.push(...settingOf(file, map, field, field === 'name' ? (value ?? '@') : value));
  }
  for (const [at, change] of own.entries()) {
    if (change?.kind !== 'set' || !change.fields.includes('content')) continue;
    if (isSeq(content)) edits.push(replaceScalar(content.items[at] ?? null, change.actual.content));
    else edits.push(...contentSettings(file, map, change));
  }
  const removed = new Set(own.flatMap((change, at) => (change?.kind === 'remove' ? at : [])));
  if (removed.size > 0 && isSeq(content)) edits.push(...removeParts(file, content, removed));
  return edits;
};

const settingOf = (
  file: YamlFile,
  map: YAMLMap.Parsed,
  key: string,
  value: string | number | null,
): (Splice | Refusal)[] => {
  const node = valueOf(map, key);
  // A TTL that no file can state.
  if (typeof value === 'number' && (value < 0 || value > maxTtl)) return [];
  if (value !== null)
    return [node === undefined ? addField(file, map, key, value) : replaceScalar(node, value)];
  const at = map.items.findIndex((pair) => pair.value === node);
  return node === undefined || at < 0
    ? [{ refusal: `the service states no \`${key}\`` }]
    : removeParts(file, map, new Set([at]));
};

const contentSettings = (
  file: YamlFile,
  map: YAMLMap.Parsed,
  { desired, actual }: SetRecord,
): (Splice | Refusal)[] => {
  const content = valueOf(map, 'content');
  if (content !== undefined) return [replaceScalar(content, actual.content)];
  const { parts } = definitionOf(desired.type);
  const [before, after] = [parts?.of(desired.content), parts?.of(actual.content)];
  if (!before || !after) return [{ refusal: 'the content is not `<weight> <port> <target>`' }];
  return (['weight', 'port', 'target'] as const).flatMap((key) =>
    before[key] === after[key] ? [] : settingOf(file, map, key, after[key]),
  );
};

/** A block list without items is no list, unless new ones follow. */
const removalOf = (
  file: YamlFile,
  root: YAMLMap.Parsed,
  dropped: readonly FileEntry[],
  hasNew: boolean,
): Splice[] => {
  const { list } = dropped[0]!;
  const removed = removeParts(file, list, new Set(dropped.map(({ index }) => index)));
  if (hasNew || list.flow === true || dropped.length < list.items.length) return removed;
  const at = afterColon(file, root, 'records');
  return [...removed, { start: at, end: at, text: ' []' }];
};

/** New entries of the template's own file: each after the last one of its record set, else of its type. */
const additionsTo = (
  file: YamlFile,
  { template, changes }: AcceptInput,
  allow: Allow<AddRecord>,
): FileSplice[] => {
  const root = rootAt(file, template.source)!;
  const entries = entriesOf(file, root, template.records);
  const ttl = entries.find(isWithoutTtl)?.records[0]?.ttl ?? null;
  const list = valueOf(root, 'records');
  const isInList = isSeq(list) && (list.items.length > 0 || root.flow === true);
  const added = changes.filter((change) => change.kind === 'add');
  const splices = added.map((adds, at): FileSplice => {
    const lines = entryLines(adds.actual, ttl, allow.get(adds));
    if (!isInList) return { file, adds, ...insertLines(file, endOfRecords(file, root), lines) };
    const inBraces = entryInBraces(adds.actual, ttl, allow.get(adds));
    const entry = { lines, inBraces, isFirst: list.items.length === 0 && at === 0 };
    return { file, adds, ...addItems(file, list, besideOf(adds.actual, entries), entry) };
  });
  return isInList || added.length === 0 ? splices : [{ file, ...headOf(file, root) }, ...splices];
};

const isWithoutTtl = ({ list, index }: FileEntry): boolean => {
  const item = list.items[index];
  return isMap(item) && valueOf(item, 'ttl') === undefined;
};

const besideOf = (actual: RecordData, entries: readonly FileEntry[]): number => {
  const key = setKey(entryOf(actual));
  const isOfSet = ({ records }: FileEntry): boolean => records.some((one) => setKey(entryOf(one)) === key);
  const isOfType = ({ records }: FileEntry): boolean => records.some(({ type }) => type === actual.type);
  return (entries.findLast(isOfSet) ?? entries.findLast(isOfType) ?? entries.at(-1))?.index ?? 0;
};

/** The key of a list that gets its first entries, without the brackets of an empty one. */
const headOf = (file: YamlFile, root: YAMLMap.Parsed): Splice => {
  const list = valueOf(root, 'records');
  if (list === undefined) return insertLines(file, endOfRecords(file, root), ['records:']);
  const start = afterColon(file, root, 'records');
  return { start, end: list?.range[1] ?? start, text: '' };
};

/** After the line of a list without entries; of a missing one: after the last key. */
const endOfRecords = (file: YamlFile, root: YAMLMap.Parsed): number => {
  const at = root.items.findIndex(({ key }) => String(key) === 'records');
  return lineAfter(file, partsOf(root).at(at)![1]);
};

interface MadeFile extends EditedFile {
  /** Where the new text adds records. */
  readonly added: readonly { readonly start: number; readonly end: number; readonly adds: AddRecord }[];
}

const madeFiles = (splices: readonly FileSplice[]): MadeFile[] =>
  [...groupBy(splices, ({ file }) => file)].map(([{ path, text }, own]) => {
    let [at, after] = [0, ''];
    const added: MadeFile['added'][number][] = [];
    for (const { start, end, text: made, adds } of own.toSorted(
      (a, b) => a.start - b.start || a.end - b.end,
    )) {
      after += text.slice(at, start);
      if (adds) added.push({ start: after.length, end: after.length + made.length, adds });
      after += made;
      at = Math.max(at, end);
    }
    return { path, before: text, after: after + text.slice(at), added };
  });

/** The problems of the new texts that were not there before, wherever they are now. */
const newProblems = (after: DesiredState, before: DesiredState, files: readonly MadeFile[]): Problem[] => {
  const wordsOf = ({ check, message, file }: Problem): string =>
    `${check} ${file} ${message.replaceAll(/:\d+/g, '')}`;
  const known = new Set(before.problems.map(wordsOf));
  const paths = new Set<string | null>(files.map(({ path }) => path));
  return after.problems.filter((one) => paths.has(one.file) && !known.has(wordsOf(one)));
};

const additionAt = ({ file, line, column }: Problem, files: readonly MadeFile[]): AddRecord | undefined => {
  const made = files.find(({ path }) => path === file);
  if (!made || line === null || column === null) return undefined;
  const at = offsetOf({ text: made.after, lineStarts: lineStartsOf(made.after) }, { line, column });
  return made.added.find(({ start, end }) => at >= start && at < end)?.adds;
};

/** The template has to want exactly the records that were accepted, besides what it wanted before. */
const whyNotExact = (after: DesiredState, { template, changes, before }: AcceptInput): string | null => {
  const own = after.templates.find((one) => isSame(one, template));
  if (!own) return 'the template would be invalid';
  const expected = new Map(template.records.map((one): [string, RecordData] => [keyOf(one), one]));
  for (const one of changes) if (one.kind !== 'add') expected.delete(keyOf(one.desired));
  for (const wanted of changes.map(wantedBy)) if (wanted) expected.set(keyOf(wanted), wanted);
  const wrong = own.records.find((one) => {
    const wanted = expected.get(keyOf(one));
    const isOpen = wanted && wanted.ttl !== null && statableTtl(wanted) === null;
    return !wanted || (!isOpen && wanted.ttl !== one.ttl);
  });
  if (wrong) return `another record would become ${shownRecord(wrong)}`;
  if (own.records.length !== expected.size) return 'another record would be lost';
  const dataIn = (one: DesiredTemplate | undefined): string =>
    JSON.stringify({ ...one, source: null, records: one?.records.map(dataOf) });
  const isOther = (one: DesiredTemplate): boolean => {
    const now = after.templates.find((each) => isSame(each, one));
    if (isSame(one, template)) return dataIn({ ...own, records: [] }) !== dataIn({ ...one, records: [] });
    return now !== one && dataIn(now) !== dataIn(one);
  };
  const other = before.templates.find(isOther);
  return other ? `template ${other.template} would change too` : null;
};

const keyOf = (record: RecordData): string => recordKey(entryOf(record));

const isSame = (one: DesiredTemplate, other: DesiredTemplate): boolean =>
  one.source.file === other.source.file && one.template === other.template && one.id === other.id;
