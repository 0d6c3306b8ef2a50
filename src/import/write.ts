import type { SourceFile } from '../desired/source-file.ts';
import type { ActualTemplate } from '../model/template.ts';
import type { DesiredRecord } from '../model/record.ts';
import { entryOf, pairOf, recordKey, type ActualEntry } from '../plan/entry.ts';
import { Budget } from '../desired/budget.ts';
import { allowableChecks, type AllowableCheck, type CheckId } from '../desired/check-id.ts';
import { parseFile } from '../desired/parse-file.ts';
import { inFile, isError, type FileDiagnostic } from '../desired/problem.ts';
import { resolveTemplate, type TemplateSettings } from '../desired/resolve-template.ts';
import { arrange, type Arrangement } from './arrange.ts';
import type { Existing } from './existing.ts';
import { shownRecord } from './entry.ts';
import { layOutFiles, type Layout } from './layout.ts';
import { scalarOf } from './scalar.ts';
import { sortOut } from './sort-out.ts';
import { commonTtl, withOwnTtl } from './ttl.ts';

export interface WriteRequest {
  readonly template: ActualTemplate;
  /** The template's name in the file, and its id if the name is not unique. */
  readonly name: string;
  readonly id: number | null;
  /** The name of the fragment with this number, if one file is not enough. */
  readonly fragmentName: (number: number) => string;
  readonly existing: Existing;
  /** What the existing file includes. */
  readonly includes?: SourceFile['includes'];
  readonly settings: Omit<TemplateSettings, 'strict'>;
}

export type Written = WrittenFiles | { readonly refusal: string };

export interface WrittenFiles {
  readonly text: string;
  /** Texts by file name, for the directory of the template's own file. */
  readonly fragments: ReadonlyMap<string, string>;
  readonly desired: number;
  readonly remarks: number;
}

/**
 * The file that describes a template as it is. Checks that object are switched off record by record, so that
 * the file is valid; what a file cannot describe becomes a comment. Gives the same for any order of the
 * records.
 */
export const writeTemplate = async ({
  template,
  name,
  id,
  fragmentName,
  existing,
  includes = new Map(),
  settings,
}: WriteRequest): Promise<Written> => {
  const sorted = sortOut(template.records, existing.ignore);
  const all = new Map(sorted.desired.map((entry) => [recordKey(entry), entry]));
  const other = existing.shared.find((record) => !isAmong(all, record));
  if (other !== undefined) {
    const { file, line } = other.source;
    return {
      refusal: `${file}:${line} has ${shownRecord(other)}, which the service has not: ${changeThere}`,
    };
  }
  const shared = new Set(existing.shared.map((record) => recordKey(entryOf(record))));
  const desired = sorted.desired.filter((entry) => !shared.has(recordKey(entry)));
  const remarks =
    name === template.name ? sorted.remarks : [`its name: ${scalarOf(template.name)}`, ...sorted.remarks];
  const arrangement = arrangementIn(existing, desired, includes.size > 0);
  const ttl = arrangement ? arrangement.ttl : commonTtl(desired);
  const contents = { name, id, ttl, desired, remarks, existing, arrangement };
  const kept = new Set(arrangement?.slots.flatMap(({ lines, records }) => (lines ? records : [])));
  const allow = new Map<ActualEntry, AllowableCheck[]>();
  for (const record of withOwnTtl(desired)) if (!kept.has(record)) allow.set(record, ['mixed-ttl']);
  for (;;) {
    const { own, fragments } = layOutFiles(contents, allow, fragmentName);
    const layoutOf = (file: string): Layout | undefined => (file === '' ? own : fragments.get(file));
    const recordAt = ({ file, line }: FileDiagnostic): ActualEntry | undefined =>
      layoutOf(file)?.recordAt(line);
    const isKept = ({ file, line }: FileDiagnostic): boolean => layoutOf(file)?.isKept(line) === true;
    const resolved = await resolve(own, [fragments, includes], settings);
    const diagnostics = resolved.diagnostics.filter(
      (diagnostic) =>
        isError(diagnostic, false) || (recordAt(diagnostic) !== undefined && !isKept(diagnostic)),
    );
    if (diagnostics.length === 0) {
      if (includes.size > 0 && !describes(resolved.records, all))
        return { refusal: `it and its fragments together would not be what the service has: ${changeThere}` };
      const texts = new Map([...fragments].map(([file, { text }]) => [file, text]));
      return {
        text: asItWas(own.text, existing),
        fragments: texts,
        desired: desired.length,
        remarks: remarks.length,
      };
    }
    const stubborn = switchOff(diagnostics, recordAt, allow);
    if (stubborn !== null) return { refusal: `${stubborn.message} [${stubborn.check}]` };
  }
};

/** Null if no entry can be kept. */
const arrangementIn = (
  { list }: Existing,
  desired: readonly ActualEntry[],
  includesOthers: boolean,
): Arrangement | null => {
  // Fragments alone: their TTL stays that of the file.
  if (includesOthers && desired.length === 0 && (list === null || list.entries.length === 0))
    return { slots: [], ttl: null, isNewTtl: false, isSame: true };
  if (list === null || list.entries.length === 0) return null;
  const arrangement = arrange(list.entries, desired);
  return list.head || arrangement.isSame ? arrangement : null;
};

/** Keeps the line ends of the existing file, and the whole file if only its last lines would change. */
const asItWas = (text: string, { source }: Existing): string => {
  const isCrlf = source.includes('\r\n');
  const made = isCrlf ? text.replaceAll('\n', '\r\n') : text;
  return made.trimEnd() === source.trimEnd() ? source : made;
};

const changeThere = 'change the files by hand, since others may include the fragments too';

const isAmong = (all: ReadonlyMap<string, ActualEntry>, record: DesiredRecord): boolean => {
  const desired = entryOf(record);
  const actual = all.get(recordKey(desired));
  return actual !== undefined && pairOf(desired, actual).fields.length === 0;
};

const describes = (records: readonly DesiredRecord[], all: ReadonlyMap<string, ActualEntry>): boolean =>
  records.length === all.size && records.every((record) => isAmong(all, record));

const resolve = async (
  own: Layout,
  [fragments, existing]: readonly [ReadonlyMap<string, Layout>, SourceFile['includes']],
  settings: Omit<TemplateSettings, 'strict'>,
): Promise<Resolved> => {
  const includes = new Map(existing);
  for (const [path, layout] of fragments) includes.set(path, await fileOf(path, layout, new Map()));
  const file = await fileOf('', own, includes);
  // Every diagnostic is needed here, since each one is switched off.
  const budget = new Budget({ problems: Number.POSITIVE_INFINITY });
  const diagnostics = inFile('', file.parsed.diagnostics);
  const records: DesiredRecord[] = [];
  for (const document of file.parsed.documents) {
    const resolved = await resolveTemplate(file, document, { ...settings, strict: false }, budget);
    for (const diagnostic of resolved.diagnostics) diagnostics.push(diagnostic);
    for (const record of resolved.template?.records ?? []) records.push(record);
  }
  return { diagnostics, records };
};

interface Resolved {
  readonly diagnostics: readonly FileDiagnostic[];
  readonly records: readonly DesiredRecord[];
}

const fileOf = async (
  path: string,
  { text }: Layout,
  includes: SourceFile['includes'],
): Promise<SourceFile> => {
  const isFragment = path !== '';
  return { path, isFragment, hash: '', parsed: await parseFile(Buffer.from(text), isFragment), includes };
};

/**
 * Switches off the first check of each record, which may be the reason for the others. Returns the diagnostic
 * that cannot be switched off, if any.
 */
const switchOff = (
  diagnostics: readonly FileDiagnostic[],
  recordAt: (diagnostic: FileDiagnostic) => ActualEntry | undefined,
  allow: Map<ActualEntry, AllowableCheck[]>,
): FileDiagnostic | null => {
  const first = new Map<ActualEntry, AllowableCheck>();
  for (const diagnostic of diagnostics) {
    const { check } = diagnostic;
    const record = recordAt(diagnostic);
    if (record === undefined || !isAllowable(check) || allow.get(record)?.includes(check)) return diagnostic;
    if (!first.has(record)) first.set(record, check);
  }
  for (const [record, check] of first) allow.set(record, inOrder([...(allow.get(record) ?? []), check]));
  return null;
};

const isAllowable = (check: CheckId): check is AllowableCheck =>
  allowableChecks.some((allowable) => allowable === check);

const inOrder = (checks: readonly AllowableCheck[]): AllowableCheck[] =>
  allowableChecks.filter((check) => checks.includes(check));
