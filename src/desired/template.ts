import { UserError } from '../errors.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import type { Place } from '../model/record.ts';
import {
  nameById,
  type DesiredTemplate,
  type TemplateDefaults,
  type TemplateLimits,
} from '../model/template.ts';
import { checkTemplate } from './checks.ts';
import { fieldsIn, variablesIn, type Fields } from './fields.ts';
import { isMissing, nothing, parseFile, type ParsedFile, type SourceFile } from './parse-file.ts';
import { Ledger, type Part, type Scope } from './part.ts';
import {
  hasControlCharacter,
  isError,
  quote,
  shownPlace,
  type Diagnostic,
  type ReportProblem,
} from './problem.ts';
import { unusualTtl } from './record-checks.ts';
import { recordsOf, rulesOf, type ResolvedRecord, type ResolvedRule } from './record.ts';
import { fragmentSchema, limitsSchema, templateSchema } from './schema.ts';
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
  const ledger = new Ledger();
  tellProblems(path, file.parsed, null, ledger);
  const diagnostics = ledger.takeDiagnostics();
  const templates: ResolvedTemplate[] = [];
  for (const root of file.parsed.documents) {
    if (isYieldDue()) await yieldToOthers();
    if (signal?.aborted === true) throw new UserError(stopping);
    if (isFragment) await entriesOf([partOf(file, root, () => [], null, ledger)], null);
    else templates.push(await resolveTemplate(file, root, settings, ledger));
  }
  diagnostics.push(...ledger.takeDiagnostics());
  return { path, isFragment, diagnostics, templates, usedVariables: ledger.usedVariables };
};

const stopping = 'loading of template files was cut short: this program is shutting down';

/** Resolves includes, variables and defaults of one document, and checks it. */
const resolveTemplate = async (
  file: SourceFile & { readonly parsed: ParsedFile },
  root: YamlNode,
  { defaults, variables, strict }: TemplateSettings,
  ledger: Ledger,
): Promise<ResolvedTemplate> => {
  const { own, fragments } = partsOf(file, root, variables, ledger);
  const { at, node, value, list } = own.fields;
  if (root.kind === 'mapping' && !node('template') && !node('id'))
    own.report('wrong-type', at, 'the template has no name: write `template: NAME`, or `id: NUMBER`');
  if (root.kind === 'mapping' && !node('records') && !node('include'))
    own.report(
      'wrong-type',
      at,
      'the template has no records: write `records: []` if it is meant to hold none',
    );
  const source = { file: file.path, ...file.parsed.placeOf(at) };
  const id = value('id');
  const name = nameIn(own, id);
  const policies = {
    mode: value('mode') ?? defaults.mode,
    surplus: value('surplus') ?? defaults.surplus,
    adopt: value('adopt') ?? defaults.adopt,
    limits: limitsIn(own, defaults.limits),
  };
  const answers = value('answers');
  const nameservers = list('nameservers').map((one) => one.value);
  const ttl = value('ttl');
  const subdomains = list('subdomains');
  const { rules, records } = await entriesOf([...fragments, own], ttl);
  const unusual = ttl === null ? null : unusualTtl(ttl);
  if (unusual !== null) own.report('ttl-unusual', node('ttl')!.at, unusual);
  await checkTemplate({ name, subdomains, rules, records, own, at });
  const diagnostics = ledger.takeDiagnostics();
  const isWrong = file.parsed.problems.length > 0 || diagnostics.some((one) => isError(one, strict));
  if (name === null || isWrong) return { source, name, id, template: null, diagnostics };
  const template: DesiredTemplate = {
    template: name,
    id,
    source,
    ...(fragments.length > 0 ? { fragments: fragments.map((one) => one.file) } : {}),
    ...policies,
    ...(answers === null ? {} : { answers }),
    ...(nameservers.length > 0 ? { nameservers } : {}),
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
  if (name !== null && hasControlCharacter(name))
    report('control-character', at, `the template's name ${quote(name)} holds a control character`);
  return name || null;
};

const limitsIn = (own: TemplatePart, defaults: TemplateLimits): TemplateLimits => {
  const node = own.fields.node('limits');
  const limits = node && fieldsIn(node, '`limits`', limitsSchema, own);
  return {
    maxAdds: limits?.value('maxAdds') ?? defaults.maxAdds,
    maxChangePercent: limits?.value('maxChangePercent') ?? defaults.maxChangePercent,
    minRecords: limits?.value('minRecords') ?? defaults.minRecords,
  };
};

/** The rules and records of all parts, in their order, until they are too much. */
const entriesOf = async (parts: readonly TemplatePart[], ttl: number | null) => {
  const rules: ResolvedRule[] = [];
  const records: ResolvedRecord[] = [];
  for (const part of parts) {
    for (const node of part.fields.nodes('ignore')) {
      if (!part.ledger.spend(400, part, node.at)) break;
      rules.push(...rulesOf(node, part));
    }
    for (const node of part.fields.nodes('records')) {
      if (isYieldDue()) await yieldToOthers();
      const own = recordsOf(node, part, ttl);
      if (!part.ledger.spend(400 * (1 + own.length), part, node.at)) break;
      for (const record of own) records.push(record);
    }
  }
  return { rules, records };
};

/** A document with its fields. */
interface TemplatePart extends Part {
  readonly fields: Fields<typeof templateSchema.shape>;
  readonly vars: Scope;
  readonly includes: SourceFile['includes'];
  /** The place of the include in the template that led here. */
  readonly via: string | null;
}

/**
 * A document and the fragments that it includes, directly or not, each once. Variables are looked up in this order:
 * override, the template's, the fragment's own, those of the other fragments, defaults.
 */
const partsOf = (
  source: SourceFile,
  root: YamlNode,
  variables: TemplateSettings['variables'],
  ledger: Ledger,
): { readonly own: TemplatePart; readonly fragments: readonly TemplatePart[] } => {
  const override = new Map(Object.entries(variables.override));
  /** Each name with its first value. */
  const others = new Map<string, string>();
  const defaults = new Map(Object.entries(variables.defaults));
  const own = partOf(source, root, (vars) => [override, vars, others, defaults], null, ledger);
  const found = new Map([[source, own]]);
  // The loop appends fragments to its own map, so deep includes need no recursion.
  for (const from of found.values())
    for (const { value: text, at } of from.fields.list('include')) {
      const target = from.includes.get(text);
      // There is none for a misspelled key, which has been reported.
      if (target === undefined || (!isMissing(target) && found.has(target))) continue;
      if (isMissing(target)) from.report('include', at, `cannot include ${quote(text)}: ${target.reason}`);
      else if (ledger.spend(20_000, from, at)) {
        const parsed = parsedOf(target);
        const via = from.via ?? shownPlace({ file: from.file, ...from.parsed.placeOf(at) });
        tellProblems(target.path, parsed, via, ledger);
        const scopes = (vars: Scope): readonly Scope[] => [override, own.vars, vars, others, defaults];
        const part = partOf({ ...target, parsed }, parsed.documents[0]!, scopes, via, ledger);
        ledger.spend(400 * part.vars.size, from, at);
        for (const [name, value] of part.vars) if (!others.has(name)) others.set(name, value);
        found.set(target, part);
      }
    }
  return { own, fragments: [...found.values()].slice(1) };
};

/** A document in a file. `scopesWith`: where its values look for variables, its own among them; none for nobody knows. */
const partOf = (
  source: SourceFile,
  root: YamlNode,
  scopesWith: (vars: Scope) => readonly Scope[],
  via: string | null,
  ledger: Ledger,
): TemplatePart => {
  const { path: file, isFragment, includes } = source;
  const parsed = parsedOf(source);
  const report: ReportProblem = (check, at, message) => {
    // What stands where YAML is wrong has been reported, whatever it would mean.
    if (parsed.isBroken || parsed.problems.some((problem) => problem.at === at)) return;
    ledger.report({ check, message, file, ...parsed.placeOf(at), via });
  };
  const scopes: Scope[] = [];
  const part = { file, parsed, scopes, ledger, report };
  const [what, { shape }] = isFragment ? ['a fragment', fragmentSchema] : ['a template', templateSchema];
  const fieldsOf = (node: YamlNode): Fields<typeof templateSchema.shape> | null =>
    fieldsIn(node, what, templateSchema, part, shape);
  const fields = fieldsOf(root) ?? fieldsOf({ ...nothing, at: root.at })!;
  const vars = variablesIn(fields.node('vars'), part);
  scopes.push(...scopesWith(vars));
  return { ...part, fields, vars, includes, via };
};

/** Files without includes are parsed when they are needed. */
const parsedOf = ({ parsed, bytes, isFragment }: SourceFile): ParsedFile =>
  parsed ?? parseFile(bytes, isFragment);

/** What is wrong with the YAML of a file. */
const tellProblems = (
  file: string,
  { problems, placeOf }: ParsedFile,
  via: string | null,
  ledger: Ledger,
): void => {
  for (const { check, at, message } of problems) ledger.report({ check, message, file, ...placeOf(at), via });
};
