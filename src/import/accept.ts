import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import { isMap, isSeq } from 'yaml';
import { allowableChecks } from '../desired/check-id.ts';
import { UserError } from '../errors.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { canonicalName, canonicalType } from '../model/canonical.ts';
import { dataOf, isRecordType, type DesiredRecord, type RecordData } from '../model/record.ts';
import { shellWord } from '../model/shell-word.ts';
import type { DesiredState, DesiredTemplate } from '../model/template.ts';
import type { Difference } from '../plan/difference.ts';
import { entryOf, pairOf, recordKey, setKey } from '../plan/entry.ts';
import { isParkedName } from '../plan/parked.ts';
import { patternOf } from '../plan/record-pattern.ts';
import { entryInBraces, fieldsOf, shownRecord, statableTtl } from './entry.ts';
import { EditRefused, valueOf, YamlFile, type FileEntry } from './yaml-file.ts';

export interface AcceptInput {
  /** As its files describe it now. */
  readonly template: DesiredTemplate;
  /** What its files are not to differ in any more. */
  readonly differences: readonly Difference[];
  /** The texts of its own file and its fragments, by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** All templates of the client, now and with other texts of some files. */
  readonly before: DesiredState;
  readonly load: (texts: ReadonlyMap<string, string>) => Promise<DesiredState>;
  /** Why a file is not this template's alone, by its path. */
  readonly sharers: ReadonlyMap<string, string>;
}

export interface EditedFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

export interface Accepted {
  readonly files: readonly EditedFile[];
  /** How many differences are accepted. */
  readonly count: number;
  /** What the service has and a file cannot say, in words. */
  readonly unsaid: readonly string[];
}

/** What a file says of a record now, and what it has to say instead; null: nothing. */
interface FileChange {
  readonly desired: DesiredRecord | null;
  readonly wanted: RecordData | null;
}

/** The change of a file, for `git apply` and `patch -p1`. */
export const patchFor = (file: string, before: string, after: string): string =>
  formatPatch(
    structuredPatch(`a/${file}`, `b/${file}`, before, after, undefined, undefined, { context: 3 }),
    FILE_HEADERS_ONLY,
  );

/**
 * Changes the texts of a template's files so that they want other records, and nothing else. The result is loaded and
 * compared before it counts. Throws a `UserError` about all that cannot be changed like that, each with its place and with
 * what to write there.
 */
export const accept = async (input: AcceptInput): Promise<Accepted> => {
  const { texts, template, load, sharers } = input;
  const { changes, unsaid } = changesFor(input);
  const files = [...texts].map(([path, text]) => new YamlFile(path, text, template));
  const refusals: string[] = [];
  const attempt = (file: YamlFile, own: readonly FileChange[], edit: () => void): void => {
    try {
      const why = sharers.get(file.path);
      if (why !== undefined) throw new EditRefused(why);
      edit();
    } catch (error) {
      if (!(error instanceof EditRefused)) throw error;
      for (const change of own) refusals.push(byHand(change, template, error.message));
    }
  };
  const changeOf = new Map(changes.map((change) => [change.desired, change]));
  for (const file of files)
    for (const entry of file.entries) {
      const ofRecords = entry.records.map((record) => changeOf.get(record));
      const own = ofRecords.filter((change) => change !== undefined);
      if (own.length > 0) attempt(file, own, () => editEntry(file, entry, ofRecords.map(atItsPlace)));
    }
  const main = files.find(({ path }) => path === template.source.file)!;
  for (const change of changes)
    if (isNew(change)) attempt(main, [change], () => addEntry(main, change.wanted!));
  if (refusals.length > 0) throw refusalOf([...new Set(refusals)]);
  const made = files
    .map((file) => ({ path: file.path, before: file.text, after: file.edited() }))
    .filter(({ before, after }) => before !== after);
  const after = await load(new Map(made.map((one) => [one.path, one.after])));
  const refused = refusalsBy(after, made, changes, input);
  if (refused.length > 0) throw refusalOf(refused);
  return { files: made, count: changes.length, unsaid };
};

const refusalOf = (refusals: readonly string[]): UserError =>
  new UserError(`nothing was changed:\n${refusals.map(escapeControl).join('\n')}`);

/** Throws a `UserError` if the files are not those that were compared. */
const changesFor = ({
  template,
  differences,
}: AcceptInput): { readonly changes: readonly FileChange[]; readonly unsaid: readonly string[] } => {
  const others = new Map(template.records.map((record) => [keyOf(record), record]));
  const unsaid: string[] = [];
  // What may be a record of the file is a surplus as well.
  const blockedIds = new Set(differences.map((one) => (one.action === 'blocked' ? one.recordId : null)));
  const found = differences.flatMap((difference): FileChange | [] => {
    if (difference.action === 'surplus' && blockedIds.has(difference.recordId)) return [];
    const current = difference.action === 'add' ? undefined : difference.current;
    // A parked record stands for none: a file that lists it would put it into other templates, too.
    const actual = isParkedName(canonicalName(current?.name ?? null)) ? undefined : current;
    if (actual && actual.ttl !== statableTtl(actual))
      unsaid.push(`a TTL of ${actual.ttl}: ${shownRecord(actual)}`);
    if (!('source' in difference))
      return actual ? { desired: null, wanted: { ...actual, ttl: statableTtl(actual) } } : [];
    const key = keyOf(difference.desired);
    const desired = others.get(key);
    const { file, line } = difference.source;
    if (!desired) throw new UserError(`${file}:${line}: the file changed while it was compared: try again`);
    others.delete(key);
    if (!actual || isOfType(actual, desired))
      return { desired, wanted: actual ? changedTo(desired, actual) : null };
    if (isRecordType(canonicalType(actual.type)))
      return { desired, wanted: { ...actual, ttl: statableTtl(actual) } };
    unsaid.push(`a record of this type: ${shownRecord(actual)}`);
    return { desired, wanted: null };
  });
  // A file names each record once.
  const keys = new Set(others.keys());
  const changes = found.flatMap((change): FileChange[] => {
    const { desired, wanted } = change;
    if (wanted === null) return [change];
    const { size } = keys;
    if (keys.add(keyOf(wanted)).size > size) return [change];
    unsaid.push(`a second copy of one record: ${shownRecord(wanted)}`);
    return desired === null ? [] : [{ desired, wanted: null }];
  });
  return { changes, unsaid };
};

const keyOf = (record: RecordData): string => recordKey(entryOf(record));

const isOfType = (one: RecordData, other: RecordData): boolean =>
  canonicalType(one.type) === canonicalType(other.type);

/** Gets an entry of its own: a value of another type is none of the old one. But it is one change, also to write by hand. */
const isNew = ({ desired, wanted }: FileChange): boolean =>
  wanted !== null && (desired === null || !isOfType(wanted, desired));

/** What becomes of the entry that there is. */
const atItsPlace = (change: FileChange | undefined): FileChange | undefined =>
  change && isNew(change) ? { ...change, wanted: null } : change;

/** What does not differ stays as the file says it; so does a TTL if the file cannot say the other one. */
const changedTo = (desired: DesiredRecord, actual: RecordData): RecordData => {
  const { fields } = pairOf(entryOf(desired), entryOf({ id: 0, ...actual }));
  const ttl = actual.ttl === null ? null : (statableTtl(actual) ?? desired.ttl);
  const changed = fields.map((field) => [field, { ...actual, ttl }[field]]);
  return { ...dataOf(desired), ...Object.fromEntries(changed) };
};

/** What to write where, as a line for people. */
const byHand = (
  { desired, wanted }: FileChange,
  { source }: DesiredTemplate,
  why: string,
  allow: readonly string[] | null = null,
): string => {
  const entry = wanted === null ? '' : `- ${entryInBraces(wanted, null, allow)}`;
  if (desired === null) return `${source.file}: ${why}: add ${entry}`;
  const before = shownRecord(desired);
  const what = wanted === null ? `remove ${before}` : `instead of ${before}, write ${entry}`;
  return `${desired.source.file}:${desired.source.line}: ${why}: ${what}`;
};

/** `changes`: that of each of its records. */
const editEntry = (
  file: YamlFile,
  { index, node, records }: FileEntry,
  changes: readonly (FileChange | undefined)[],
): void => {
  if (changes.every((change) => change?.wanted === null)) return file.removeEntry(index);
  const content = isMap(node) ? valueOf(node, 'content') : undefined;
  if (!isMap(node) || (records.length > 1 && !isSeq(content)))
    throw new EditRefused('it is no entry of its own');
  const inParts = content === undefined;
  const pairs = records.map((record, at) => {
    const wanted = changes[at] ? changes[at].wanted : record;
    if (wanted === null) throw new EditRefused('other records stay in its list');
    return { before: fieldsOf(record, inParts), after: fieldsOf(wanted, inParts) };
  });
  for (const key of Object.keys(pairs[0]!.after)) {
    const changed = pairs.filter(({ before, after }) => before[key] !== after[key]);
    if (key === 'content' && isSeq(content))
      for (const pair of changed)
        file.replaceScalar(content.items[pairs.indexOf(pair)] ?? null, pair.after[key]!);
    else if (changed.length > 0) {
      const [value = null, ...others] = new Set(pairs.map(({ after }) => after[key]));
      if (others.length > 0) throw new EditRefused(`the records of this entry share its \`${key}\``);
      file.setField(node, key, key === 'name' ? (value ?? '@') : value);
    }
  }
};

/** After the last entry of its record set, else of its type. */
const addEntry = (file: YamlFile, record: RecordData): void => {
  const inheriting = file.entries.find(({ node }) => isMap(node) && valueOf(node, 'ttl') === undefined);
  const lastWith = (isAlike: (other: DesiredRecord) => boolean): number | undefined =>
    file.entries.findLast(({ records }) => records.some(isAlike))?.index;
  const set = setKey(entryOf(record));
  const beside =
    lastWith((other) => setKey(entryOf(other)) === set) ?? lastWith(({ type }) => type === record.type);
  const entry = entryInBraces(record, inheriting?.records[0]?.ttl ?? null);
  file.addEntry(beside ?? file.entries.length - 1, entry);
};

/**
 * None if the template wants exactly the records that were accepted, besides what it wanted before, and others the same. An
 * error is of the changes whose words stand in its line, or of all.
 */
const refusalsBy = (
  after: DesiredState,
  made: readonly EditedFile[],
  changes: readonly FileChange[],
  { template, before }: AcceptInput,
): readonly string[] => {
  const changed = new Set(changes.map(({ desired }) => desired));
  const kept = template.records.filter((record) => !changed.has(record));
  const wanted = [...kept, ...changes.flatMap((change) => change.wanted ?? [])];
  const isMeant = before.templates.every((one, index) => {
    const now = after.templates[index];
    if (one === template) return saying(now) === saying({ ...one, records: wanted });
    return now === one || saying(now) === saying(one);
  });
  if (isMeant && after.templates.length === before.templates.length) return [];
  const errors = after.problems.flatMap(({ severity, check, message, file, line }) => {
    const text = made.find(({ path }) => path === file)?.after;
    if (text === undefined || severity !== 'error') return [];
    const words = wordsIn(text.split('\n')[(line ?? 0) - 1] ?? '');
    const allow = allowableChecks.some((one) => one === check) ? [check] : null;
    return { words, allow, why: `${message} [${check}]` };
  });
  const errorOf = (change: FileChange) =>
    errors.find(
      ({ words }) => change.wanted && wordsIn(change.wanted.content).every((one) => words.includes(one)),
    );
  const isOfSome = changes.some(errorOf);
  return changes.map((change) => {
    const error = errorOf(change) ?? (isOfSome ? undefined : errors[0]);
    const record = shellWord(patternOf(change.desired ?? change.wanted!));
    const other = isOfSome
      ? `\`accept ${shellWord(template.template)} ${record}\` can take it alone`
      : 'something else would change with it';
    return byHand(change, template, error?.why ?? other, error?.allow);
  });
};

/** Without the signs of YAML around them. */
const wordsIn = (text: string): readonly string[] => text.split(/[\s"',{}]+/).filter((word) => word !== '');

/** All that a template says, whatever the order of its records. */
const saying = (
  template: (Omit<DesiredTemplate, 'records'> & { records: readonly RecordData[] }) | undefined,
): string =>
  JSON.stringify({
    ...template,
    source: null,
    records: template?.records.map((record) => `${keyOf(record)} ${record.ttl}`).sort(),
  });
