import { isScalar, type ParsedNode } from 'yaml';
import { allowableChecks, type AllowableCheck } from '../../desired/check-id.ts';
import { ttlSchema } from '../../desired/schema.ts';
import { dataOf, type DesiredRecord, type Place, type RecordData } from '../../model/record.ts';
import type { DesiredState, DesiredTemplate, Problem } from '../../model/template.ts';
import { entryOf, recordKey } from '../../plan/entry.ts';
import { shownRecord, statableTtl } from '../entry.ts';
import { definitionOf, type Definition, type Scope } from './assignment.ts';
import type { FileChange } from './changes.ts';
import { entriesOf, type FileEntry } from './entries.ts';
import { insertionFor, operationsFor, type FileEdit } from './operations.ts';
import { splicesFor, type AllowedChecks, type Edit, type FileSplices, type Mark } from './splices-for.ts';
import { originOf, spliced, type Splice } from './splices.ts';
import {
  documentAt,
  entryAt,
  lineStartsOf,
  offsetOf,
  openYaml,
  valueOfKey,
  type YamlFile,
} from './yaml-file.ts';

export interface AcceptInput {
  /** As its files describe it now. */
  readonly template: DesiredTemplate;
  readonly changes: readonly FileChange[];
  /** The text of a file, with its own line ends. */
  readonly textOf: (file: string) => string | undefined;
  readonly before: DesiredState;
  /** The templates of the client with other texts of some files. */
  readonly load: (texts: ReadonlyMap<string, string>) => Promise<DesiredState>;
  /** Variables that no file can define. */
  readonly overridden: ReadonlySet<string>;
}

export interface EditedFile {
  readonly path: string;
  readonly before: string;
  readonly splices: readonly Splice<unknown>[];
  readonly after: string;
}

export interface Accepted {
  /** The template's own file first. */
  readonly files: readonly EditedFile[];
  /** Other templates that want other records now, since they include a changed fragment. */
  readonly others: readonly string[];
}

/**
 * Changes the texts of a template's files so that they want other records, and nothing else. A value that comes from a
 * variable, an anchor or the template's TTL is changed there if exactly the records concerned follow, else in its entry.
 * Each result is loaded and compared before it counts.
 */
export const accept = async (input: AcceptInput): Promise<Accepted | { readonly refusal: string }> => {
  const prepared = prepare(input);
  if ('refusal' in prepared) return prepared;
  const { operations, scope } = prepared;
  const definitions = new Map<ParsedNode, [FileEdit, Definition][]>();
  for (const one of operations) {
    const definition = one.kind === 'assign' ? definitionOf(one, scope) : null;
    if (definition)
      definitions.set(definition.node, [...(definitions.get(definition.node) ?? []), [one, definition]]);
  }
  const groups = [...definitions.values()].filter(
    (group) => new Set(group.map(([one]) => (one.kind === 'assign' ? one.value : ''))).size === 1,
  );
  const literal = await attempt(prepared, new Map(), input);
  if (groups.length === 0) return literal;
  const isBetter = (one: AcceptOutcome): boolean =>
    !('refusal' in one) &&
    ('refusal' in literal || one.others.every((other) => literal.others.includes(other)));
  const all = await attempt(prepared, new Map(groups.flat()), input);
  if (isBetter(all)) return all;
  let [best, chosen]: [AcceptOutcome, (typeof groups)[number]] = [literal, []];
  for (const group of groups.length === 1 ? [] : groups) {
    const tried = await attempt(prepared, new Map([...chosen, ...group]), input);
    if (isBetter(tried)) [best, chosen] = [tried, [...chosen, ...group]];
  }
  return best;
};

interface Prepared {
  readonly files: ReadonlyMap<string, YamlFile>;
  readonly scope: Scope;
  readonly operations: readonly FileEdit[];
  readonly templateTtl: number | null;
}

const prepare = ({ template, changes, textOf, overridden }: AcceptInput): Prepared | { refusal: string } => {
  const { source, fragments = [], records } = template;
  const files = new Map<string, YamlFile>();
  for (const path of [source.file, ...fragments]) {
    const text = textOf(path);
    if (text === undefined) return { refusal: `${path} is not on this machine` };
    files.set(path, openYaml(path, text));
  }
  const ownFile = files.get(source.file)!;
  const own = documentAt(ownFile, offsetOf(ownFile, source));
  if (!own) return { refusal: `${source.file}:${source.line}: the template is no mapping` };
  const included = fragments.flatMap((path) => files.get(path)!.documents[0] ?? []);
  const changed = new Map(
    changes.flatMap((one) => (one.kind === 'add' ? [] : [[one.desired, one] as const])),
  );
  const recordsOf = (path: string): DesiredRecord[] =>
    records.filter((record) => record.source.file === path);
  const ownEntries = entriesOf(own, recordsOf(source.file));
  const entries: FileEntry[] = [
    ...ownEntries,
    ...included.flatMap((place) => entriesOf(place, recordsOf(place.file.path))),
  ];
  const ttl = valueOfKey(own.root, 'ttl');
  const operations: FileEdit[] = [];
  for (const entry of entries) {
    const found = operationsFor(entry, changed, ttl !== undefined);
    if ('refusal' in found) return found;
    operations.push(...found);
  }
  const added = changes.flatMap((one) => (one.kind === 'add' ? insertionFor(one, ownEntries, own) : []));
  return {
    files,
    scope: { own, fragments: included, overridden },
    operations: [...operations, ...added],
    templateTtl: isScalar(ttl) ? (ttlSchema.safeParse(String(ttl.value)).data ?? null) : null,
  };
};

type AcceptOutcome = Accepted | { readonly refusal: string };

/** Switches off checks until the files are valid, as far as checks can be switched off. */
const attempt = async (
  { files, operations, templateTtl }: Prepared,
  shared: Edit['shared'],
  input: AcceptInput,
): Promise<AcceptOutcome> => {
  const allow = new Map<Mark, AllowedChecks>();
  for (;;) {
    const splices = splicesFor({ operations, shared, allow, templateTtl });
    const edited = [...splices].map(([file, own]): EditedFile & { file: YamlFile } => ({
      file,
      path: file.path,
      before: file.text,
      splices: own,
      after: spliced(file.text, own),
    }));
    const texts = new Map(edited.map(({ path, after }) => [path, after]));
    const after = await input.load(texts);
    const fresh = newProblems(input.before, after).map((problem) => ({
      problem,
      mark: markAt(problem, files, splices, texts),
    }));
    const touched = new Set([...splices.values()].flat().map(({ mark }) => mark));
    const stubborn = switchOff(fresh, touched, allow);
    if (stubborn !== 'none') {
      if (stubborn === null) continue;
      const { file, line, message, check } = stubborn;
      return { refusal: `${file}:${line}: ${message} [${check}]` };
    }
    const wrong = whyNotExact(after, input);
    if (wrong !== null) return { refusal: wrong };
    const own = input.template.source.file;
    const ordered = edited.sort((a, b) => Number(b.path === own) - Number(a.path === own));
    return { files: ordered, others: othersIn(after, input) };
  }
};

/** Without those that were there before, wherever they are now. */
const newProblems = (before: DesiredState, after: DesiredState): Problem[] => {
  const keyOf = ({ check, message, file }: Problem): string =>
    `${check} ${file} ${message.replaceAll(/:\d+/g, '')}`;
  const known = new Map<string, number>();
  for (const problem of before.problems) known.set(keyOf(problem), (known.get(keyOf(problem)) ?? 0) + 1);
  return after.problems.filter((problem) => {
    const left = known.get(keyOf(problem)) ?? 0;
    known.set(keyOf(problem), left - 1);
    return left <= 0;
  });
};

interface MarkedProblem {
  readonly problem: Problem;
  readonly mark: { readonly key: Mark; readonly entry: AllowedChecks['entry'] } | null;
}

/** The entry or the new record that a problem is about. */
const markAt = (
  { file, line, column }: Problem,
  files: ReadonlyMap<string, YamlFile>,
  splices: FileSplices,
  texts: ReadonlyMap<string, string>,
): MarkedProblem['mark'] => {
  const old = files.get(file ?? '');
  if (!old || line === null || column === null) return null;
  const text = texts.get(old.path) ?? old.text;
  const lineStarts = lineStartsOf(text);
  const origin = originOf(offsetOf({ text, lineStarts }, { line, column }), splices.get(old) ?? []);
  if (!('offset' in origin)) {
    const { mark, start } = origin;
    if (mark && 'kind' in mark) return { key: mark, entry: null };
    const entry = entryAt(old, start);
    return entry ? { key: entry.map, entry } : null;
  }
  const entry = entryAt(old, origin.offset);
  return entry ? { key: entry.map, entry } : null;
};

/** Null if a check was switched off, a problem that stays, or `none` if nothing is to do. */
const switchOff = (
  fresh: readonly MarkedProblem[],
  touched: ReadonlySet<Mark | undefined>,
  allow: Map<Mark, AllowedChecks>,
): Problem | null | 'none' => {
  let isChanged = false;
  for (const { problem, mark } of fresh) {
    const check = allowableChecks.find((one) => one === problem.check);
    const known = mark ? allow.get(mark.key) : undefined;
    const mayStay = problem.severity === 'warning' && !(mark && touched.has(mark.key));
    if (mark && check && known?.checks.includes(check) !== true && !mayStay) {
      const checks = new Set<AllowableCheck>([...(known?.checks ?? []), check]);
      allow.set(mark.key, { entry: mark.entry, checks: allowableChecks.filter((one) => checks.has(one)) });
      isChanged = true;
    } else if (problem.severity === 'error') return problem;
  }
  return isChanged ? null : 'none';
};

/** The template has to want exactly the records that were accepted, besides what it wanted before. */
const whyNotExact = ({ templates }: DesiredState, { template, changes }: AcceptInput): string | null => {
  const after = templates.find((one) => isSame(one, template));
  if (!after) return `${template.source.file}: the template would be invalid`;
  const expected = new Map(
    template.records.map((one): [string, Expected] => [keyOf(one), { place: one.source, ttl: one.ttl }]),
  );
  for (const one of changes) if (one.kind !== 'add') expected.delete(keyOf(one.desired));
  for (const one of changes) {
    if (one.kind === 'remove') continue;
    const stated = statableTtl(one.actual);
    const isUnsaid = one.kind === 'add' || one.fields.includes('ttl');
    const ttl = isUnsaid ? (stated ?? 'any') : one.desired.ttl;
    const place = one.kind === 'add' ? template.source : one.desired.source;
    expected.set(keyOf(one.actual), { place, ttl });
  }
  for (const record of after.records) {
    const wanted = expected.get(keyOf(record));
    if (!wanted || (wanted.ttl !== 'any' && wanted.ttl !== record.ttl))
      return `${record.source.file}:${record.source.line}: this would change a record that was not accepted, to ${shownRecord(record)}: ${byHand}`;
    expected.delete(keyOf(record));
  }
  const [lost] = expected.values();
  if (lost) return `${lost.place.file}:${lost.place.line}: this cannot be changed alone: ${byHand}`;
  return policiesOf(after) === policiesOf(template)
    ? null
    : `${template.source.file}:${template.source.line}: this would change more than records: ${byHand}`;
};

interface Expected {
  readonly place: Place;
  /** `any` if the file cannot say it. */
  readonly ttl: number | null | 'any';
}

const byHand = 'change the file by hand';

const keyOf = (record: RecordData): string => recordKey(entryOf(record));

const isSame = (one: DesiredTemplate, other: DesiredTemplate): boolean =>
  one.source.file === other.source.file && one.template === other.template && one.id === other.id;

const policiesOf = (template: DesiredTemplate): string =>
  JSON.stringify({ ...template, records: null, source: null });

const othersIn = ({ templates }: DesiredState, { before, template }: AcceptInput): string[] => {
  const dataIn = (one: DesiredTemplate): string => JSON.stringify([policiesOf(one), one.records.map(dataOf)]);
  return before.templates
    .filter((one) => !isSame(one, template))
    .filter((one) => {
      const now = templates.find((other) => isSame(other, one));
      return now !== one && (!now || dataIn(now) !== dataIn(one));
    })
    .map((one) => one.template);
};
