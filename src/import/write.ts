import type { SourceFile } from '../desired/source-file.ts';
import type { ActualTemplate } from '../model/template.ts';
import type { ActualEntry } from '../plan/entry.ts';
import { Budget } from '../desired/budget.ts';
import { allowableChecks, type AllowableCheck, type CheckId } from '../desired/check-id.ts';
import { parseFile } from '../desired/parse-file.ts';
import { inFile, isError, type FileDiagnostic } from '../desired/problem.ts';
import { resolveTemplate, type TemplateSettings } from '../desired/resolve-template.ts';
import { arrange, type Arrangement } from './arrange.ts';
import type { Existing } from './existing.ts';
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
  settings,
}: WriteRequest): Promise<Written> => {
  const { desired, remarks: unsaid } = sortOut(template.records, existing.ignore);
  const remarks = name === template.name ? unsaid : [`its name: ${scalarOf(template.name)}`, ...unsaid];
  const arrangement = arrangementIn(existing, desired);
  const ttl = arrangement ? arrangement.ttl : commonTtl(desired);
  const contents = { name, id, ttl, desired, remarks, existing, arrangement };
  const kept = new Set(arrangement?.slots.flatMap(({ lines, records }) => (lines ? records : [])));
  const allow = new Map<ActualEntry, AllowableCheck[]>();
  for (const record of withOwnTtl(desired)) if (!kept.has(record)) allow.set(record, ['mixed-ttl']);
  for (;;) {
    const { own, fragments } = layOutFiles(contents, allow, fragmentName);
    const recordAt = ({ file, line }: FileDiagnostic): ActualEntry | undefined =>
      (fragments.get(file) ?? own).recordAt(line);
    const isKept = ({ file, line }: FileDiagnostic): boolean => (fragments.get(file) ?? own).isKept(line);
    const diagnostics = (await diagnosticsIn(own, fragments, settings)).filter(
      (diagnostic) =>
        isError(diagnostic, false) || (recordAt(diagnostic) !== undefined && !isKept(diagnostic)),
    );
    if (diagnostics.length === 0) {
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
const arrangementIn = ({ list }: Existing, desired: readonly ActualEntry[]): Arrangement | null => {
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

const diagnosticsIn = async (
  own: Layout,
  fragments: ReadonlyMap<string, Layout>,
  settings: Omit<TemplateSettings, 'strict'>,
): Promise<readonly FileDiagnostic[]> => {
  const includes = new Map<string, SourceFile>();
  for (const [path, layout] of fragments) includes.set(path, await fileOf(path, layout, new Map()));
  const file = await fileOf('', own, includes);
  // Every diagnostic is needed here, since each one is switched off.
  const budget = new Budget({ problems: Number.POSITIVE_INFINITY });
  const diagnostics = inFile('', file.parsed.diagnostics);
  for (const document of file.parsed.documents) {
    const resolved = await resolveTemplate(file, document, { ...settings, strict: false }, budget);
    for (const diagnostic of resolved.diagnostics) diagnostics.push(diagnostic);
  }
  return diagnostics;
};

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
