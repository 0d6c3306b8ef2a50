import type { Place } from '../model/record.ts';
import { maxDepth, tooManyEntries, tooManyFragments, type Budget } from './budget.ts';
import { faultAt, quote, type FaultReport } from './fault.ts';
import { emptyOutline, type Outline } from './outline.ts';
import { atFile, type Finding } from './problem.ts';
import { isMissing, type SourceFile } from './snapshot.ts';
import type { Layers, Variable } from './variables.ts';

/** One file's share of a template: its own document, or a fragment. */
export interface Part {
  readonly file: string;
  readonly outline: Outline;
  readonly layers: Layers;
  readonly budget: Budget;
  readonly report: FaultReport;
}

/** What the settings say beside the files. */
export interface Variables {
  /** Before everything that files say. */
  readonly override: Readonly<Record<string, string>>;
  /** Where no file says anything. */
  readonly defaults: Readonly<Record<string, string>>;
}

/**
 * A template's own document and the fragments that it includes, each once, also through others. Variables hold in
 * this order: override, the template's, those of the fragments on the way to a fragment, its own, those of the
 * other fragments, defaults.
 */
export const partsOf = (
  file: SourceFile,
  outline: Outline,
  variables: Variables,
  budget: Budget,
  findings: Finding[],
): { own: Part; fragments: readonly Part[] } => {
  const included = new Map<SourceFile, Fragment>();
  const own: Fragment = { file, outline, via: null, trail: [] };
  const telling: Telling = { budget, findings };
  follow(own, included, telling);
  const fragments = [...included.values()];
  const override = variablesOf(variables.override);
  const others = firstOf(fragments.map((fragment) => fragment.outline.vars));
  const defaults = variablesOf(variables.defaults);
  const partOf = (fragment: Fragment): Part => {
    const onTheWay = [...fragment.trail, fragment].map((step) => step.outline.vars);
    return {
      file: fragment.file.path,
      outline: fragment.outline,
      layers: [override, ...onTheWay, others, defaults],
      budget,
      report: reportTo(telling, fragment),
    };
  };
  return { own: partOf(own), fragments: fragments.map(partOf) };
};

interface Fragment {
  readonly file: SourceFile;
  readonly outline: Outline;
  /** The place of the include in the template's own file. */
  readonly via: Place | null;
  /** The files between the template and this one, the template's own first. */
  readonly trail: readonly Fragment[];
}

/** Where problems go. */
interface Telling {
  readonly budget: Budget;
  readonly findings: Finding[];
}

const follow = (from: Fragment, included: Map<SourceFile, Fragment>, telling: Telling): void => {
  const report = reportTo(telling, from);
  const trail = [...from.trail, from];
  for (const include of from.outline.include) {
    const target = from.file.includes.get(include.text)!;
    const refuse = (why: string): void =>
      report('include', include, `cannot include ${quote(include.text)}: ${why}`);
    if (isMissing(target)) {
      refuse(target.reason);
    } else if (trail.some((step) => step.file === target)) {
      const circle = [...trail.map((step) => step.file.path), target.path].join(' -> ');
      report('include', include, `includes run in a circle: ${circle}`);
    } else if (!included.has(target)) {
      if (trail.length > maxDepth) return refuse(`includes stand in each other more than ${maxDepth} deep`);
      if (!telling.budget.take('fragments')) return refuse(tooManyFragments);
      const outline = target.outline.documents[0] ?? emptyOutline;
      if (!telling.budget.take('entries', sizeOf(outline))) return refuse(tooManyEntries);
      const { line, column } = include;
      const via = from.via ?? { file: from.file.path, line, column };
      const fragment = { file: target, outline, via, trail };
      included.set(target, fragment);
      reportAll(fragment, telling);
      follow(fragment, included, telling);
    }
  }
};

const sizeOf = ({ records, ignore, vars }: Outline): number => records.length + ignore.length + vars.size;

/** What is wrong with a fragment is wrong with every template that includes it. */
const reportAll = (fragment: Fragment, { budget, findings }: Telling): void => {
  const { outline, path } = fragment.file;
  const faults = [...outline.faults, ...outline.documents.flatMap((document) => document.faults)];
  for (const finding of atFile(path, faults, fragment.via)) budget.tell(findings, finding);
};

const reportTo =
  ({ budget, findings }: Telling, { file, via }: Fragment): FaultReport =>
  (check, at, message) =>
    budget.tell(findings, { ...faultAt(check, at, message), file: file.path, via });

/** Each name with what is said of it first. */
const firstOf = (layers: Layers): ReadonlyMap<string, Variable> => {
  const first = new Map<string, Variable>();
  for (const layer of layers)
    for (const [name, variable] of layer) if (!first.has(name)) first.set(name, variable);
  return first;
};

const variablesOf = (record: Readonly<Record<string, string>>): ReadonlyMap<string, Variable> =>
  new Map(Object.entries(record).map(([name, text]) => [name, { text }]));
