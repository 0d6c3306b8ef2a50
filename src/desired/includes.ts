import { isMissing, type SourceFile } from './source-file.ts';
import type { Place } from '../model/record.ts';
import { maxDepth, tooManyEntries, tooManyFragments, type Budget } from './budget.ts';
import { diagnosticAt, quote, type ReportDiagnostic } from './diagnostic.ts';
import { emptyDocument, type ParsedDocument } from './parse-file.ts';
import { inFile, type FileDiagnostic } from './problem.ts';
import type { Scopes, Variable } from './variables.ts';

/** One file of a template: its own document, or a fragment. */
export interface IncludedFile {
  readonly file: string;
  readonly document: ParsedDocument;
  readonly scopes: Scopes;
  readonly budget: Budget;
  readonly report: ReportDiagnostic;
}

/** The variables from the settings. */
export interface Variables {
  /** Wins over the files. */
  readonly override: Readonly<Record<string, string>>;
  /** Used if no file defines the variable. */
  readonly defaults: Readonly<Record<string, string>>;
}

/**
 * A template's own document and the fragments that it includes, directly or not, each once. Variables are
 * looked up in this order: override, the template's, those of the including fragments, the fragment's own,
 * those of the other fragments, defaults.
 */
export const includedFiles = (
  file: SourceFile,
  document: ParsedDocument,
  variables: Variables,
  budget: Budget,
  diagnostics: FileDiagnostic[],
): { own: IncludedFile; fragments: readonly IncludedFile[] } => {
  const included = new Map<SourceFile, Fragment>();
  const own: Fragment = { file, document, via: null, includeStack: [] };
  const sink: DiagnosticSink = { budget, diagnostics };
  follow(own, included, sink);
  const fragments = [...included.values()];
  const override = variablesOf(variables.override);
  const others = firstOf(fragments.map((fragment) => fragment.document.vars));
  const defaults = variablesOf(variables.defaults);
  const includedFile = (fragment: Fragment): IncludedFile => {
    const onTheWay = [...fragment.includeStack, fragment].map((step) => step.document.vars);
    return {
      file: fragment.file.path,
      document: fragment.document,
      scopes: [override, ...onTheWay, others, defaults],
      budget,
      report: reportTo(sink, fragment),
    };
  };
  return { own: includedFile(own), fragments: fragments.map(includedFile) };
};

interface Fragment {
  readonly file: SourceFile;
  readonly document: ParsedDocument;
  /** The place of the include in the template's own file. */
  readonly via: Place | null;
  /** The files that lead from the template to this one, the template's own first. */
  readonly includeStack: readonly Fragment[];
}

/** Collects diagnostics. */
interface DiagnosticSink {
  readonly budget: Budget;
  readonly diagnostics: FileDiagnostic[];
}

const follow = (from: Fragment, included: Map<SourceFile, Fragment>, sink: DiagnosticSink): void => {
  const report = reportTo(sink, from);
  const includeStack = [...from.includeStack, from];
  for (const include of from.document.include) {
    const target = from.file.includes.get(include.text);
    // A misspelled key, which has been reported: it does not make the file one whose includes are looked up.
    if (target === undefined) continue;
    const refuse = (why: string): void =>
      report('include', include, `cannot include ${quote(include.text)}: ${why}`);
    if (isMissing(target)) {
      refuse(target.reason);
    } else if (includeStack.some((step) => step.file === target)) {
      const circle = [...includeStack.map((step) => step.file.path), target.path].join(' -> ');
      report('include', include, `includes run in a circle: ${circle}`);
    } else if (!included.has(target)) {
      if (includeStack.length > maxDepth) return refuse(`includes are nested more than ${maxDepth} deep`);
      if (!sink.budget.spend('fragments')) return refuse(tooManyFragments);
      const document = target.parsed.documents[0] ?? emptyDocument;
      if (!sink.budget.spend('entries', sizeOf(document))) return refuse(tooManyEntries);
      const { line, column } = include;
      const via = from.via ?? { file: from.file.path, line, column };
      const fragment = { file: target, document, via, includeStack };
      included.set(target, fragment);
      reportAll(fragment, sink);
      follow(fragment, included, sink);
    }
  }
};

const sizeOf = ({ records, ignore, vars }: ParsedDocument): number =>
  records.length + ignore.length + vars.size;

/** Diagnostics of a fragment count for every template that includes it. */
const reportAll = (fragment: Fragment, { budget, diagnostics }: DiagnosticSink): void => {
  const { parsed, path } = fragment.file;
  const found = [...parsed.diagnostics, ...parsed.documents.flatMap((document) => document.diagnostics)];
  for (const diagnostic of inFile(path, found, fragment.via)) budget.report(diagnostics, diagnostic);
};

const reportTo =
  ({ budget, diagnostics }: DiagnosticSink, { file, via }: Fragment): ReportDiagnostic =>
  (check, at, message) =>
    budget.report(diagnostics, { ...diagnosticAt(check, at, message), file: file.path, via });

/** Each name with its first value. */
const firstOf = (scopes: Scopes): ReadonlyMap<string, Variable> => {
  const first = new Map<string, Variable>();
  for (const scope of scopes)
    for (const [name, variable] of scope) if (!first.has(name)) first.set(name, variable);
  return first;
};

const variablesOf = (record: Readonly<Record<string, string>>): ReadonlyMap<string, Variable> =>
  new Map(Object.entries(record).map(([name, text]) => [name, { text }]));
