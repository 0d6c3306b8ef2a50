import type { Place } from '../model/record.ts';
import { steps, tooMuch, type Budget } from './budget.ts';
import type { Reader } from './fields.ts';
import type { ParsedDocument } from './parse-file.ts';
import { inFile, quote, type FileDiagnostic } from './problem.ts';
import { isMissing, type SourceFile } from './source-file.ts';
import type { Scope } from './variables.ts';

/** One file of a template, its own document or a fragment, and how its values are read. */
export interface Part extends Reader {
  readonly file: string;
  readonly document: ParsedDocument;
}

/** The variables from the settings. */
export interface Variables {
  /** Wins over the files. */
  readonly override: Readonly<Record<string, string>>;
  /** Used if no file defines the variable. */
  readonly defaults: Readonly<Record<string, string>>;
}

/**
 * The fragments that a template includes, directly or not, each once, and then its own document. Variables are
 * looked up in this order: override, the template's, those of the including fragments, the fragment's own,
 * those of the other fragments, defaults.
 */
export const partsOf = (
  file: SourceFile,
  document: ParsedDocument,
  variables: Variables,
  sink: Sink,
): { own: Part; fragments: readonly Part[] } => {
  const included = new Map<SourceFile, Included>();
  const own: Included = { file, document, via: null, way: [] };
  follow(own, included, sink);
  const fragments = [...included.values()];
  const override = new Map(Object.entries(variables.override));
  const others = firstOf(fragments.map((fragment) => fragment.document.vars));
  const defaults = new Map(Object.entries(variables.defaults));
  const partOf = (one: Included): Part => ({
    file: one.file.path,
    document: one.document,
    scopes: [override, ...[...one.way, one].map((step) => step.document.vars), others, defaults],
    budget: sink.budget,
    report: reportTo(one, sink),
  });
  return { own: partOf(own), fragments: fragments.map(partOf) };
};

interface Included {
  readonly file: SourceFile;
  readonly document: ParsedDocument;
  /** The place of the include in the template's own file. */
  readonly via: Place | null;
  /** The files that lead from the template to this one, the template's own first. */
  readonly way: readonly Included[];
}

/** Where diagnostics of a template go. */
export interface Sink {
  readonly budget: Budget;
  readonly diagnostics: FileDiagnostic[];
}

const reportTo =
  ({ file, document, via }: Included, { budget, diagnostics }: Sink): Reader['report'] =>
  (check, at, message) =>
    budget.report(diagnostics, { check, message, ...document.placeOf(at), file: file.path, via });

/** Deeper than anybody needs; the way back to the template is searched for each fragment. */
const maxDepth = 32;

const follow = (from: Included, included: Map<SourceFile, Included>, sink: Sink): void => {
  const report = reportTo(from, sink);
  const way = [...from.way, from];
  for (const { text, at } of from.document.include) {
    const target = from.file.includes.get(text);
    // A misspelled key, which has been reported: it does not make the file one whose includes are looked up.
    if (target === undefined) continue;
    const refuse = (why: string): void => report('include', at, `cannot include ${quote(text)}: ${why}`);
    if (isMissing(target)) refuse(target.reason);
    else if (way.some((step) => step.file === target)) {
      const circle = [...way.map((step) => step.file.path), target.path].join(' -> ');
      report('include', at, `includes run in a circle: ${circle}`);
    } else if (!included.has(target)) {
      if (way.length > maxDepth) return refuse(`includes are nested more than ${maxDepth} deep`);
      const [document] = target.parsed.documents;
      const via = from.via ?? { file: from.file.path, ...from.document.placeOf(at) };
      if (!sink.budget.spend(steps.fragment + steps.entry * sizeOf(document))) return refuse(tooMuch);
      reportAll(target, via, sink);
      if (document === undefined) continue;
      const fragment = { file: target, document, via, way };
      included.set(target, fragment);
      follow(fragment, included, sink);
    }
  }
};

const sizeOf = (document: ParsedDocument | undefined): number =>
  document ? document.records.length + document.ignore.length + document.vars.size : 0;

/** Diagnostics of a fragment count for every template that includes it. */
const reportAll = ({ parsed, path }: SourceFile, via: Place, { budget, diagnostics }: Sink): void => {
  const found = [...parsed.diagnostics, ...parsed.documents.flatMap((document) => document.diagnostics)];
  for (const diagnostic of inFile(path, found, via)) budget.report(diagnostics, diagnostic);
};

/** Each name with its first value. */
const firstOf = (scopes: readonly Scope[]): Scope =>
  new Map(scopes.toReversed().flatMap((scope) => [...scope]));
