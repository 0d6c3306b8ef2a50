import { isMap, isSeq, type YAMLMap } from 'yaml';
import type { DesiredRecord, RecordData } from '../model/record.ts';
import type { DesiredState, DesiredTemplate, Problem } from '../model/template.ts';
import { definitionOf } from '../model/types/table.ts';
import { entryOf, recordKey, setKey } from '../plan/entry.ts';
import { groupBy } from '../model/group.ts';
import { switchOff, type Allow } from './allow.ts';
import type { FileChange } from './changes.ts';
import { entryInBraces, shownRecord } from './entry.ts';
import {
  addEntry,
  headOf,
  openFile,
  Refusal,
  removeParts,
  replaceScalar,
  setField,
  valueOf,
  type FileEntry,
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
  /** What a template of another client is called that reads a file too, by the path of the file. */
  readonly sharers: ReadonlyMap<string, string>;
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
  const files = [...texts].flatMap(([path, text]) => openFile(path, text, template) ?? []);
  const { edits, refusals } = editsFor(files, input);
  if (refusals.length > 0) return { refusals };
  const own = files.find(({ path }) => path === template.source.file)!;
  const allow: Allow<FileChange> = new Map();
  for (;;) {
    const made = madeFiles([...edits, ...additionsTo(own, changes, allow)]);
    const after = await load(new Map(made.map((file) => [file.path, file.after])));
    const problems = newProblems(after, input.before, made);
    if (switchOff(problems, (problem) => additionAt(problem, made), allow)) continue;
    const error = problems.find(({ severity }) => severity === 'error');
    const isSyntax = error?.check === 'yaml-syntax';
    const why = isSyntax
      ? 'it cannot be changed in its place'
      : error
        ? `${error.message} [${error.check}]`
        : whyNotExact(after, input);
    if (why === null) return { files: made };
    return { refusals: changes.map((change) => byHand(change, template, why)) };
  }
};

/** What to write where, as a line for people. */
const byHand = ({ desired, wanted }: FileChange, { source }: DesiredTemplate, why: string): string => {
  const entry = wanted === null ? '' : `- ${entryInBraces(wanted, null)}`;
  if (desired === null) return `${source.file}: ${why}: add ${entry}`;
  const before = shownRecord(desired);
  const what = wanted === null ? `remove ${before}` : `instead of ${before}, write ${entry}`;
  return `${desired.source.file}:${desired.source.line}: ${why}: ${what}`;
};

/** A splice of a file, and the record that it adds. */
interface FileSplice extends Splice {
  readonly file: YamlFile;
  readonly adds?: FileChange;
}

/** The splices for records that the files have already. */
const editsFor = (
  files: readonly YamlFile[],
  { template, changes, before, sharers }: AcceptInput,
): { edits: readonly FileSplice[]; refusals: readonly string[] } => {
  const edits: FileSplice[] = [];
  const refusals: string[] = [];
  const changeOf = new Map(changes.map((change) => [change.desired, change]));
  for (const file of files) {
    const isOwn = file.path === template.source.file;
    const other = before.templates.find(
      ({ source, fragments }) => source.file !== template.source.file && fragments?.includes(file.path),
    );
    const why = other ? `template ${other.template} includes this file too` : sharers.get(file.path);
    if (isOwn && why !== undefined)
      refusals.push(...changes.filter(isNew).map((change) => byHand(change, template, why)));
    const dropped = new Set<number>();
    for (const entry of file.entries) {
      const own = entry.records.map((record) => changeOf.get(record));
      if (own.every((change) => change === undefined)) continue;
      try {
        if (why !== undefined) throw new Refusal(why);
        if (own.every((change) => change?.wanted === null)) dropped.add(entry.index);
        else for (const edit of editsOf(file, entry, own)) edits.push({ ...edit, file });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        for (const change of own) if (change) refusals.push(byHand(change, template, error.message));
      }
    }
    if (dropped.size === 0) continue;
    const isEmptied = dropped.size === file.entries.length && !(isOwn && changes.some(isNew));
    for (const edit of [...removeParts(file, file.list!, dropped), ...(isEmptied ? headOf(file, true) : [])])
      edits.push({ ...edit, file });
  }
  return { edits, refusals };
};

const isNew = ({ desired }: FileChange): boolean => desired === null;

/** For an entry that stays, with the change of each of its records. Throws a `Refusal`. */
const editsOf = (
  file: YamlFile,
  { node, records }: FileEntry,
  changes: readonly (FileChange | undefined)[],
): Splice[] => {
  const content = isMap(node) ? valueOf(node, 'content') : undefined;
  if (!isMap(node) || (records.length > 1 && !isSeq(content))) throw new Refusal('it is no entry of its own');
  const wanted = records.map((record, at) => (changes[at] ? changes[at].wanted : record));
  const isChanged = (field: keyof RecordData) => (record: DesiredRecord, at: number) =>
    wanted[at] && wanted[at][field] !== record[field];
  const edits = (['name', 'priority', 'ttl'] as const).flatMap((field) => {
    if (!records.some(isChanged(field))) return [];
    const [value = null, ...others] = new Set(wanted.flatMap((one) => (one ? [one[field]] : [])));
    if (others.length > 0) throw new Refusal(`the records of this entry share its \`${field}\``);
    return setField(file, node, field, field === 'name' ? (value ?? '@') : value);
  });
  for (const [at, record] of records.entries()) {
    if (!isChanged('content')(record, at)) continue;
    const value = wanted[at]!.content;
    if (isSeq(content)) edits.push(replaceScalar(content.items[at] ?? null, value));
    else if (content !== undefined) edits.push(replaceScalar(content, value));
    else edits.push(...partsSet(file, node, record, value));
  }
  const removed = new Set(wanted.flatMap((one, at) => (one === null ? at : [])));
  return removed.size > 0 && isSeq(content) ? [...edits, ...removeParts(file, content, removed)] : edits;
};

/** Another content that is stated in parts. */
const partsSet = (
  file: YamlFile,
  map: YAMLMap.Parsed,
  { type, content }: DesiredRecord,
  wanted: string,
): Splice[] => {
  const { parts } = definitionOf(type);
  const [before, after] = [parts?.of(content), parts?.of(wanted)];
  if (!before || !after) throw new Refusal('its content is not `<weight> <port> <target>`');
  return (['weight', 'port', 'target'] as const).flatMap((key) =>
    before[key] === after[key] ? [] : setField(file, map, key, after[key]),
  );
};

/** New entries of the template's own file: each after the last one of its record set, else of its type. */
const additionsTo = (
  file: YamlFile,
  changes: readonly FileChange[],
  allow: Allow<FileChange>,
): FileSplice[] => {
  const inheriting = file.entries.find(({ node }) => isMap(node) && valueOf(node, 'ttl') === undefined);
  const ttl = inheriting?.records[0]?.ttl ?? null;
  const last = new Map<string, number>();
  for (const { index, records } of file.entries)
    for (const record of records) last.set(record.type, index).set(setKey(entryOf(record)), index);
  const added = changes.filter(isNew).map((adds, at): FileSplice => {
    const record = adds.wanted!;
    const beside = last.get(setKey(entryOf(record))) ?? last.get(record.type) ?? file.entries.length - 1;
    const entry = entryInBraces(record, ttl, allow.get(adds));
    return { file, adds, ...addEntry(file, beside, entry, at === 0) };
  });
  return added.length === 0 ? [] : [...headOf(file, false).map((edit) => ({ file, ...edit })), ...added];
};

interface MadeFile extends EditedFile {
  /** What lines of the new text add. */
  readonly added: ReadonlyMap<number, FileChange>;
}

const madeFiles = (splices: readonly FileSplice[]): MadeFile[] =>
  [...groupBy(splices, ({ file }) => file)].map(([{ path, text }, own]) => {
    const added = new Map<number, FileChange>();
    const pieces: string[] = [];
    let [at, line] = [0, 1];
    const write = (piece: string): void => {
      pieces.push(piece);
      line += piece.split('\n').length - 1;
    };
    for (const one of own.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
      write(text.slice(at, one.start));
      write(one.text);
      if (one.adds) added.set(one.text.endsWith('\n') ? line - 1 : line, one.adds);
      at = Math.max(at, one.end);
    }
    return { path, before: text, after: pieces.join('') + text.slice(at), added };
  });

/** The problems of the new texts that were not there before, wherever they are now. */
const newProblems = (after: DesiredState, before: DesiredState, files: readonly MadeFile[]): Problem[] => {
  const wordsOf = ({ check, message, file }: Problem): string =>
    `${check} ${file} ${message.replaceAll(/:\d+/g, '')}`;
  const known = new Set(before.problems.map(wordsOf));
  const paths = new Set<string | null>(files.map(({ path }) => path));
  return after.problems.filter((one) => paths.has(one.file) && !known.has(wordsOf(one)));
};

const additionAt = ({ file, line }: Problem, files: readonly MadeFile[]): FileChange | undefined =>
  line === null ? undefined : files.find(({ path }) => path === file)?.added.get(line);

/** The template has to want exactly the records that were accepted, besides what it wanted before. */
const whyNotExact = (after: DesiredState, { template, changes, before }: AcceptInput): string | null => {
  const changed = new Set(changes.map(({ desired }) => desired));
  const wanted = [
    ...template.records.filter((record) => !changed.has(record)),
    ...changes.flatMap((change) => change.wanted ?? []),
  ];
  for (const one of before.templates) {
    const isOwn = one === template;
    const now = after.templates.find(
      ({ source, template: name, id }) =>
        source.file === one.source.file && name === one.template && id === one.id,
    );
    if (
      isOwn ? saying(now) === saying({ ...one, records: wanted }) : now === one || saying(now) === saying(one)
    )
      continue;
    return isOwn ? 'something else would change with it' : `template ${one.template} would change with it`;
  }
  return null;
};

/** All that a template says, whatever the order of its records. */
const saying = (
  template: (Omit<DesiredTemplate, 'records'> & { records: readonly RecordData[] }) | undefined,
): string =>
  JSON.stringify({
    ...template,
    source: null,
    records: template?.records.map((record) => `${recordKey(entryOf(record))} ${record.ttl}`).sort(),
  });
