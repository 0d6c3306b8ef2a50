import { UserError } from '../errors.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import type { Place } from '../model/record.ts';
import { nameById, type DesiredTemplate, type TemplateDefaults } from '../model/template.ts';
import { checkTemplate } from './checks.ts';
import { fieldsIn, type Fields } from './fields.ts';
import { isMissing, nothing, parseFile, type ParsedFile, type SourceFile } from './parse-file.ts';
import { Budget, tooMuch, type Part, type Scope } from './part.ts';
import { isError, quote, shownPlace, type Diagnostic, type Report } from './problem.ts';
import { hasControlCharacter, recordsOf, rulesOf, type ResolvedRecord } from './record.ts';
import { fragmentSchema, templateSchema } from './schema.ts';
import type { YamlNode } from './yaml.ts';

export interface TemplateSettings {
  /** Used if the file does not say. */
  readonly defaults: TemplateDefaults;
  readonly variables: {
    /** Wins over the files. */
    readonly override: Readonly<Record<string, string>>;
    /** Used if no file defines the variable. */
    readonly defaults: Readonly<Record<string, string>>;
  };
  /** Warnings count as errors. */
  readonly strict: boolean;
}

/** A template file; or a fragment by itself, which has no templates. */
export interface ResolvedFile {
  readonly path: string;
  readonly isFragment: boolean;
  /** About the file as a whole. */
  readonly diagnostics: readonly Diagnostic[];
  readonly templates: readonly ResolvedTemplate[];
  readonly usedVariables: ReadonlySet<string>;
}

/** The result of resolving one document. */
export interface ResolvedTemplate {
  readonly source: Place;
  /** Known for many invalid templates too. */
  readonly name: string | null;
  readonly id: number | null;
  /** Null if there is any error. */
  readonly template: DesiredTemplate | null;
  readonly diagnostics: readonly Diagnostic[];
}

export const resolveFile = async (
  source: SourceFile,
  settings: TemplateSettings,
  signal?: AbortSignal,
): Promise<ResolvedFile> => {
  const { path, isFragment } = source;
  const file = { ...source, parsed: parsedOf(source) };
  const sink: Sink = { budget: new Budget(), diagnostics: [] };
  tellProblems(path, file.parsed, null, sink);
  const templates: ResolvedTemplate[] = [];
  for (const root of file.parsed.documents) {
    if (isYieldDue()) await yieldToOthers();
    if (signal?.aborted === true) throw new UserError(stopping);
    if (isFragment) await entriesOf([partOf(file, root, [], null, sink)], null);
    else templates.push(await resolveTemplate(file, root, settings, sink.budget));
  }
  const { diagnostics, budget } = sink;
  return { path, isFragment, diagnostics, templates, usedVariables: budget.usedVariables };
};

const stopping = 'loading of template files was cut short: this program is shutting down';

/** Resolves includes, variables and defaults of one document, and checks it. */
const resolveTemplate = async (
  file: SourceFile & { readonly parsed: ParsedFile },
  root: YamlNode,
  { defaults, variables, strict }: TemplateSettings,
  budget: Budget,
): Promise<ResolvedTemplate> => {
  const { parsed } = file;
  const diagnostics: Diagnostic[] = [];
  const parts = partsOf(file, root, variables, { budget, diagnostics });
  const own = parts.at(-1)!;
  const { at, report } = own;
  const { node: nodeOf, value } = own.fields;
  if (root.kind === 'mapping' && nodeOf('template') === undefined && nodeOf('id') === undefined)
    report('wrong-type', at, 'the template has no name: write `template: NAME`, or `id: NUMBER`');
  if (root.kind === 'mapping' && nodeOf('records') === undefined && nodeOf('include') === undefined)
    report('wrong-type', at, 'the template has no records: write `records: []` if it is meant to hold none');
  const source = { file: file.path, ...parsed.placeOf(at) };
  const id = value('id');
  const name = nameIn(own, id);
  const limits = value('limits');
  const answers = value('answers');
  const nameservers = value('nameservers') ?? [];
  const policies = {
    mode: value('mode') ?? defaults.mode,
    surplus: value('surplus') ?? defaults.surplus,
    adopt: value('adopt') ?? defaults.adopt,
    limits: {
      maxAdds: limits?.value('maxAdds') ?? defaults.limits.maxAdds,
      maxChangePercent: limits?.value('maxChangePercent') ?? defaults.limits.maxChangePercent,
      minRecords: limits?.value('minRecords') ?? defaults.limits.minRecords,
    },
    ...(answers === null ? {} : { answers }),
    ...(nameservers.length === 0 ? {} : { nameservers: nameservers.map((one) => one.value) }),
  };
  const ttl = value('ttl');
  const subdomains = value('subdomains') ?? [];
  const { rules, records } = await entriesOf(parts, ttl);
  await checkTemplate({ name, ttl, ttlAt: nodeOf('ttl')?.at, subdomains, rules, records, own, at });
  const isRight = parsed.problems.length === 0 && !diagnostics.some((one) => isError(one, strict));
  if (name === null || !isRight) return { source, name, id, template: null, diagnostics };
  const fragments = parts.slice(0, -1).map((part) => part.file);
  const template: DesiredTemplate = {
    template: name,
    id,
    source,
    ...(fragments.length > 0 ? { fragments } : {}),
    ...policies,
    subdomains: subdomains.map((one) => one.value),
    ignore: rules.map(({ rule }) => rule),
    records: records.map(({ desired }) => desired),
  };
  return { source, name, id, template, diagnostics };
};

const nameIn = ({ fields, report }: TemplatePart, id: number | null): string | null => {
  const at = fields.node('template')?.at;
  if (at === undefined) return id === null ? null : nameById(id);
  const name = fields.value('template');
  if (name === '') report('wrong-type', at, '`template` is empty');
  if (name !== null && hasControlCharacter(name)) {
    const message = `the template's name ${quote(name)} holds a control character`;
    report('control-character', at, message);
  }
  return name || null;
};

/** The rules and records of all parts, in their order. */
const entriesOf = async (parts: readonly TemplatePart[], ttl: number | null) => {
  const rules = [...affordable(parts, 'ignore')].flatMap(([node, part]) => rulesOf(node, part));
  const records: ResolvedRecord[] = [];
  for (const [node, part] of affordable(parts, 'records')) {
    if (isYieldDue()) await yieldToOthers();
    const own = recordsOf(node, part, ttl);
    part.budget.spend(400 * own.length);
    for (const record of own) records.push(record);
  }
  return { rules, records };
};

/** The entries of a list in all parts, until they are too much. */
function* affordable(
  parts: readonly TemplatePart[],
  key: 'ignore' | 'records',
): Generator<readonly [YamlNode, TemplatePart]> {
  for (const part of parts)
    for (const node of part.fields.value(key) ?? []) {
      if (!part.budget.spend(400)) return part.report('unreadable', node.at, tooMuch);
      yield [node, part];
    }
}

/** A document with its fields. */
interface TemplatePart extends Part {
  /** Where it begins. */
  readonly at: number;
  readonly fields: Fields<typeof templateSchema.shape>;
  readonly scopes: Scope[];
  readonly source: SourceFile;
  /** The place of the include in the template that led here. */
  readonly via: string | null;
  readonly vars: Scope;
}

/** Where diagnostics of a template go, and what it may cost. */
interface Sink {
  readonly budget: Budget;
  readonly diagnostics: Diagnostic[];
}

/**
 * The fragments that a template includes, directly or not, each once, and at the end its own document. Variables are
 * looked up in this order: override, the template's, those of the including fragments, the fragment's own,
 * those of the other fragments, defaults.
 */
const partsOf = (
  source: SourceFile,
  root: YamlNode,
  variables: TemplateSettings['variables'],
  sink: Sink,
): readonly TemplatePart[] => {
  const own = partOf(source, root, [new Map(Object.entries(variables.override))], null, sink);
  const found = new Map<SourceFile, TemplatePart>([[source, own]]);
  // The loop appends fragments to its own map, so deep includes need no recursion.
  for (const from of found.values())
    for (const { value: text, at } of from.fields.value('include') ?? []) {
      const target = from.source.includes.get(text);
      // There is none for a misspelled key, which has been reported.
      if (target === undefined || (!isMissing(target) && found.has(target))) continue;
      const refuse = (why: string): void =>
        from.report('include', at, `cannot include ${quote(text)}: ${why}`);
      if (isMissing(target)) refuse(target.reason);
      else if (from.scopes.length > maxDepth + 1) refuse(`includes are nested more than ${maxDepth} deep`);
      else if (!sink.budget.spend(20_000)) refuse(tooMuch);
      else {
        const via = from.via ?? shownPlace({ file: from.file, ...from.parsed.placeOf(at) });
        const part = partOf(target, parsedOf(target).documents[0]!, from.scopes, via, sink);
        sink.budget.spend(400 * part.vars.size);
        found.set(target, part);
      }
    }
  const [, ...fragments] = found.values();
  // Each name with its first value.
  const others = new Map(fragments.toReversed().flatMap(({ vars }) => [...vars]));
  const defaults = new Map(Object.entries(variables.defaults));
  const parts = [...fragments, own];
  for (const { scopes } of parts) scopes.push(others, defaults);
  return parts;
};

/** Deeper than anybody needs; each fragment looks variables up in all that led to it. */
const maxDepth = 32;

/** A document in a file, and what is wrong with the YAML of a fragment. Without scopes: a fragment alone. */
const partOf = (
  source: SourceFile,
  root: YamlNode,
  outer: readonly Scope[],
  via: string | null,
  sink: Sink,
): TemplatePart => {
  const { path: file, isFragment } = source;
  const parsed = parsedOf(source);
  if (via !== null) tellProblems(file, parsed, via, sink);
  const report: Report = (check, at, message) => {
    // What stands where YAML is wrong has been reported, whatever it would mean.
    if (parsed.isBroken || parsed.problems.some((problem) => problem.at === at)) return;
    sink.budget.report(sink.diagnostics, { check, message, file, ...parsed.placeOf(at), via });
  };
  const scopes = [...outer];
  const part = { file, parsed, scopes, budget: sink.budget, report };
  const [what, { shape }] = isFragment ? ['a fragment', fragmentSchema] : ['a template', templateSchema];
  const fieldsOf = (node: YamlNode): Fields<typeof templateSchema.shape> | null =>
    fieldsIn(node, what, templateSchema, part, shape);
  const fields = fieldsOf(root) ?? fieldsOf({ ...nothing, at: root.at })!;
  const vars = fields.value('vars') ?? new Map<string, string>();
  if (outer.length > 0) scopes.push(vars);
  return { ...part, source, via, at: root.at, fields, vars };
};

/** Files without includes are parsed when they are needed. */
const parsedOf = ({ parsed, bytes, isFragment }: SourceFile): ParsedFile =>
  parsed ?? parseFile(bytes, isFragment);

/** What is wrong with the YAML of a file. */
const tellProblems = (
  file: string,
  { problems, placeOf }: ParsedFile,
  via: string | null,
  { budget, diagnostics }: Sink,
): void => {
  for (const { check, at, message } of problems)
    budget.report(diagnostics, { check, message, file, ...placeOf(at), via });
};
