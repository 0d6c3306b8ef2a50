import type { Place } from '../model/record.ts';
import { tooMuch, type Budget } from './budget.ts';
import { Fields, mappingIn, scalarIn, type Part, type Scope } from './fields.ts';
import { inFile, quote, type FileDiagnostic, type Report } from './problem.ts';
import { fragmentSchema, isVariableName, templateSchema } from './schema.ts';
import { isMissing, parseFile, type ParsedFile, type SourceFile } from './parse-file.ts';
import type { YamlNode } from './yaml.ts';

/** The variables from the settings. */
export interface Variables {
  /** Wins over the files. */
  readonly override: Readonly<Record<string, string>>;
  /** Used if no file defines the variable. */
  readonly defaults: Readonly<Record<string, string>>;
}

/** A part of a template, as its file says it. */
export interface TemplatePart extends Part {
  readonly source: SourceFile;
  /** Where its document begins. */
  readonly at: number;
  readonly fields: Fields<typeof templateSchema>;
  readonly vars: Scope;
  readonly scopes: Scope[];
}

/** Where diagnostics of a template go, and what it may cost. */
export interface Sink {
  readonly budget: Budget;
  readonly diagnostics: FileDiagnostic[];
}

/**
 * The fragments that a template includes, directly or not, each once, and then its own document. Variables are
 * looked up in this order: override, the template's, those of the including fragments, the fragment's own,
 * those of the other fragments, defaults.
 */
export const partsOf = (
  source: SourceFile,
  root: YamlNode,
  variables: Variables,
  sink: Sink,
): { readonly own: TemplatePart; readonly fragments: readonly TemplatePart[] } => {
  const own = partOf(source, root, [new Map(Object.entries(variables.override))], null, sink);
  own.scopes.push(own.vars);
  const found = new Map<SourceFile, TemplatePart>();
  follow([own], null, found, sink);
  const fragments = [...found.values()];
  // Each name with its first value.
  const others = new Map(fragments.toReversed().flatMap(({ vars }) => [...vars]));
  const defaults = new Map(Object.entries(variables.defaults));
  for (const { scopes } of [own, ...fragments]) scopes.push(others, defaults);
  return { own, fragments };
};

/** A document in a file. Without scopes: a fragment alone, whose variables nobody knows. */
export const partOf = (
  source: SourceFile,
  root: YamlNode,
  scopes: Scope[],
  via: Place | null,
  { budget, diagnostics }: Sink,
): TemplatePart => {
  const { path: file, isFragment } = source;
  const parsed = parsedOf(source);
  const report: Report = (check, at, message) => {
    if (parsed.isBroken || parsed.unread.has(at)) return;
    budget.report(diagnostics, { check, message, ...parsed.placeOf(at), file, via });
  };
  const part = { file, parsed, scopes, budget, report };
  const isText = root.kind === 'scalar';
  const what = isFragment ? 'a fragment' : 'a template';
  if (isText)
    report('wrong-type', root.at, `${what} is a mapping (\`key: value\`), and this file has a text alone`);
  const mapping = isText ? null : mappingIn(root, what, part);
  const known = isFragment ? fragmentSchema.shape : templateSchema.shape;
  const fields = new Fields(
    mapping ?? { kind: 'mapping', entries: [], at: root.at },
    templateSchema,
    part,
    known,
  );
  return { ...part, source, at: root.at, fields, vars: varsIn(fields, part) };
};

/** Files without includes are parsed when they are needed. */
export const parsedOf = ({ parsed, bytes, isFragment }: SourceFile): ParsedFile =>
  parsed ?? parseFile(bytes, isFragment);

const varsIn = (fields: TemplatePart['fields'], part: Part): Scope => {
  const vars = new Map<string, string>();
  for (const { key, at, value } of fields.mapping('vars')?.entries ?? []) {
    const scalar = scalarIn(value, `the variable ${quote(key)}`, part);
    if (!isVariableName(key)) part.report('wrong-type', at, variableName(key));
    else if (vars.has(key)) part.report('duplicate-key', at, `\`${key}\` is given twice: keep one`);
    else if (scalar !== null) vars.set(key, scalar.text);
  }
  return vars;
};

const variableName = (key: string): string =>
  `a variable's name is a letter or \`_\`, then those, digits, \`.\` and \`-\`, not ${quote(key)}`;

/** Deeper than anybody needs; the way back to the template is searched for each fragment. */
const maxDepth = 32;

/** `way`: the parts that lead from the template to the one whose includes are followed, this one last. */
const follow = (
  way: readonly TemplatePart[],
  via: Place | null,
  found: Map<SourceFile, TemplatePart>,
  sink: Sink,
): void => {
  const from = way.at(-1)!;
  for (const { text, at } of from.fields.scalars('include')) {
    const target = from.source.includes.get(text);
    // A misspelled key, which has been reported: it does not make the file one whose includes are looked up.
    if (target === undefined) continue;
    const refuse = (why: string): void => from.report('include', at, `cannot include ${quote(text)}: ${why}`);
    if (isMissing(target)) refuse(target.reason);
    else if (way.some(({ source }) => source === target)) {
      const circle = [...way.map(({ file }) => file), target.path].join(' -> ');
      from.report('include', at, `includes run in a circle: ${circle}`);
    } else if (!found.has(target)) {
      if (way.length > maxDepth) return refuse(`includes are nested more than ${maxDepth} deep`);
      const place = via ?? { file: from.file, ...from.parsed.placeOf(at) };
      const {
        problems,
        documents: [root],
      } = parsedOf(target);
      for (const one of inFile(target.path, problems, place)) sink.budget.report(sink.diagnostics, one);
      const part = partOf(target, root!, [...from.scopes], place, sink);
      part.scopes.push(part.vars);
      found.set(target, part);
      if (!sink.budget.spend(20_000 + 400 * part.vars.size)) return refuse(tooMuch);
      follow([...way, part], place, found, sink);
    }
  }
};
