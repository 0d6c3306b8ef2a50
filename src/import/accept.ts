import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import { isMap, isSeq } from 'yaml';
import { groupBy } from '../model/group.ts';
import type { DesiredRecord, RecordData } from '../model/record.ts';
import type { DesiredState, DesiredTemplate } from '../model/template.ts';
import { definitionOf } from '../model/types/table.ts';
import { entryOf, recordKey, setKey } from '../plan/entry.ts';
import type { FileChange } from './changes.ts';
import { entryInBraces, shownRecord } from './entry.ts';
import {
  addEntry,
  openFile,
  Refusal,
  removeEntry,
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

/** The change of a file, for `git apply` and `patch -p1`. */
export const patchFor = (file: string, before: string, after: string): string =>
  formatPatch(
    structuredPatch(`a/${file}`, `b/${file}`, before, after, undefined, undefined, { context: 3 }),
    FILE_HEADERS_ONLY,
  );

/**
 * Changes the texts of a template's files so that they want other records, and nothing else. The result is loaded and
 * compared before it counts; what cannot be changed like that is refused with its place, and with what to write there.
 */
export const accept = async (input: AcceptInput): Promise<Accepted> => {
  const { texts, template, load, changes } = input;
  const files = [...texts].flatMap(([path, text]) => openFile(path, text, template) ?? []);
  const edits: { readonly file: YamlFile; readonly splice: Splice }[] = [];
  const refusals: string[] = [];
  const attempt = (file: YamlFile, own: readonly FileChange[], splices: () => readonly Splice[]): void => {
    try {
      const why = whyShared(file, input);
      if (why !== undefined) throw new Refusal(why);
      for (const splice of splices()) edits.push({ file, splice });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      for (const change of own) refusals.push(byHand(change, template, error.message));
    }
  };
  const changeOf = new Map(changes.map((change) => [change.desired, change]));
  for (const file of files)
    for (const entry of file.entries) {
      const ofRecords = entry.records.map((record) => changeOf.get(record));
      const own = ofRecords.filter((change) => change !== undefined);
      if (own.length > 0) attempt(file, own, () => editsOf(file, entry, ofRecords));
    }
  const main = files.find(({ path }) => path === template.source.file)!;
  for (const change of changes)
    if (change.desired === null) attempt(main, [change], () => [addition(main, change.wanted!)]);
  if (refusals.length > 0) return { refusals };
  const made = [...groupBy(edits, ({ file }) => file)].map(([{ path, text }, own]) => {
    const splices = own.map(({ splice }) => splice);
    return { path, before: text, after: spliced(text, splices) };
  });
  const why = whyNot(await load(new Map(made.map(({ path, after }) => [path, after]))), made, input);
  if (why === null) return { files: made };
  return { refusals: changes.map((change) => byHand(change, template, why)) };
};

/** What to write where, as a line for people. */
const byHand = ({ desired, wanted }: FileChange, { source }: DesiredTemplate, why: string): string => {
  const entry = wanted === null ? '' : `- ${entryInBraces(wanted, null)}`;
  if (desired === null) return `${source.file}: ${why}: add ${entry}`;
  const before = shownRecord(desired);
  const what = wanted === null ? `remove ${before}` : `instead of ${before}, write ${entry}`;
  return `${desired.source.file}:${desired.source.line}: ${why}: ${what}`;
};

/** Why a file is not this template's alone. */
const whyShared = ({ path }: YamlFile, { template, before, sharers }: AcceptInput): string | undefined => {
  const other = before.templates.find(
    ({ source, fragments }) => source.file !== template.source.file && fragments?.includes(path),
  );
  return other ? `template ${other.template} includes this file too` : sharers.get(path);
};

/** For an entry, with the change of each of its records. Throws a `Refusal`. */
const editsOf = (
  file: YamlFile,
  { index, node, records }: FileEntry,
  changes: readonly (FileChange | undefined)[],
): Splice[] => {
  if (changes.every((change) => change?.wanted === null)) return [removeEntry(file, index)];
  const content = isMap(node) ? valueOf(node, 'content') : undefined;
  if (!isMap(node) || (records.length > 1 && !isSeq(content))) throw new Refusal('it is no entry of its own');
  const wanted = records.map((record, at) => (changes[at] ? changes[at].wanted : record));
  if (wanted.includes(null)) throw new Refusal('other records stay in its list');
  const isChanged = (field: keyof RecordData) => (record: DesiredRecord, at: number) =>
    wanted[at]![field] !== record[field];
  const edits = (['name', 'priority', 'ttl'] as const).flatMap((field) => {
    if (!records.some(isChanged(field))) return [];
    const [value = null, ...others] = new Set(wanted.map((one) => one![field]));
    if (others.length > 0) throw new Refusal(`the records of this entry share its \`${field}\``);
    return setField(file, node, field, field === 'name' ? (value ?? '@') : value);
  });
  for (const [at, record] of records.entries()) {
    if (!isChanged('content')(record, at)) continue;
    const value = wanted[at]!.content;
    if (isSeq(content)) edits.push(replaceScalar(content.items[at] ?? null, value));
    else if (content !== undefined) edits.push(replaceScalar(content, value));
    else {
      // Content that is stated in parts.
      const { parts } = definitionOf(record.type);
      const [before, after] = [parts?.of(record.content), parts?.of(value)];
      if (!before || !after) throw new Refusal('its content is not `<weight> <port> <target>`');
      for (const key of ['weight', 'port', 'target'] as const)
        if (before[key] !== after[key]) edits.push(setField(file, node, key, after[key]));
    }
  }
  return edits;
};

/** A new entry after the last one of its record set, else of its type. Throws a `Refusal`. */
const addition = (file: YamlFile, record: RecordData): Splice => {
  const inheriting = file.entries.find(({ node }) => isMap(node) && valueOf(node, 'ttl') === undefined);
  const lastWith = (isAlike: (other: DesiredRecord) => boolean): number | undefined =>
    file.entries.findLast(({ records }) => records.some(isAlike))?.index;
  const set = setKey(entryOf(record));
  const beside =
    lastWith((other) => setKey(entryOf(other)) === set) ?? lastWith(({ type }) => type === record.type);
  const entry = entryInBraces(record, inheriting?.records[0]?.ttl ?? null);
  return addEntry(file, beside ?? file.entries.length - 1, entry);
};

const spliced = (text: string, splices: readonly Splice[]): string => {
  let made = '';
  let at = 0;
  for (const one of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    made += text.slice(at, one.start) + one.text;
    at = Math.max(at, one.end);
  }
  return made + text.slice(at);
};

/** The template has to want exactly the records that were accepted, besides what it wanted before, and others the same. */
const whyNot = (
  after: DesiredState,
  made: readonly EditedFile[],
  { template, changes, before }: AcceptInput,
): string | null => {
  const changed = new Set(changes.map(({ desired }) => desired));
  const wanted = [
    ...template.records.filter((record) => !changed.has(record)),
    ...changes.flatMap((change) => change.wanted ?? []),
  ];
  for (const one of before.templates) {
    const now = after.templates.find(
      ({ source, template: name, id }) =>
        source.file === one.source.file && name === one.template && id === one.id,
    );
    if (one !== template && now !== one && saying(now) !== saying(one))
      return `template ${one.template} would change with it`;
    if (one !== template || saying(now) === saying({ ...one, records: wanted })) continue;
    const error = after.problems.find(
      ({ severity, file }) => severity === 'error' && made.some(({ path }) => path === file),
    );
    if (now !== undefined || error === undefined) return 'something else would change with it';
    return error.check === 'yaml-syntax'
      ? 'it cannot be changed in its place'
      : `${error.message} [${error.check}]`;
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
