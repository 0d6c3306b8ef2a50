import { UserError } from '../errors.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { parseNameServer } from '../model/address.ts';
import type { Place } from '../model/record.ts';
import { nameById, type DesiredTemplate, type TemplateDefaults } from '../model/template.ts';
import { Budget, tooMuch } from './budget.ts';
import { checkTemplate } from './checks.ts';
import { Fields } from './fields.ts';
import { parsedOf, partOf, partsOf, type TemplatePart, type Variables } from './parts.ts';
import { inFile, isError, quote, type FileDiagnostic } from './problem.ts';
import { hasControlCharacter, recordsOf, ruleOf, type ResolvedRecord } from './record.ts';
import { limitsSchema } from './schema.ts';
import type { SourceFile } from './parse-file.ts';
import type { YamlNode } from './yaml.ts';

export interface TemplateSettings {
  /** Used if the file does not say. */
  readonly defaults: TemplateDefaults;
  readonly variables: Variables;
  /** Warnings count as errors. */
  readonly strict: boolean;
}

/** A template file; or a fragment by itself, which has no templates. */
export interface ResolvedFile {
  readonly path: string;
  readonly isFragment: boolean;
  /** About the file as a whole. */
  readonly diagnostics: readonly FileDiagnostic[];
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
  readonly diagnostics: readonly FileDiagnostic[];
}

export const resolveFile = async (
  given: SourceFile,
  settings: TemplateSettings,
  signal?: AbortSignal,
): Promise<ResolvedFile> => {
  const { path, isFragment } = given;
  const parsed = parsedOf(given);
  const file = { ...given, parsed };
  const budget = new Budget();
  const diagnostics = inFile(path, parsed.problems);
  const templates: ResolvedTemplate[] = [];
  for (const root of parsed.documents) {
    if (isYieldDue()) await yieldToOthers();
    if (signal?.aborted === true) throw new UserError(stopping);
    const alone = isFragment ? partOf(file, root, [], null, { budget, diagnostics }) : null;
    if (alone === null) templates.push(await resolveTemplate(file, root, settings, budget));
    else await entriesOf([alone], null);
  }
  return { path, isFragment, diagnostics, templates, usedVariables: budget.usedVariables };
};

const stopping = 'loading of template files was cut short: this program is shutting down';

/** Resolves includes, variables and defaults of one document, and checks it. */
const resolveTemplate = async (
  file: SourceFile,
  root: YamlNode,
  { defaults, variables, strict }: TemplateSettings,
  budget: Budget,
): Promise<ResolvedTemplate> => {
  const diagnostics: FileDiagnostic[] = [];
  const { own, fragments } = partsOf(file, root, variables, { budget, diagnostics });
  const { fields, parsed } = own;
  if (!parsed.isBroken && root.kind === 'mapping') requireKeys(own);
  const source = { file: file.path, ...parsed.placeOf(own.at) };
  const id = fields.value('id');
  const name = nameIn(own, id);
  const policies = policiesOf(own, defaults);
  const ttl = fields.value('ttl', 'ttl-range');
  const subdomains = fields.texts('subdomains');
  const { rules, records } = await entriesOf([...fragments, own], ttl);
  await checkTemplate({ name, ttl, subdomains, rules, records, own });
  const isRight =
    parsed.problems.length === 0 && !diagnostics.some((diagnostic) => isError(diagnostic, strict));
  if (name === null || !isRight) return { source, name, id, template: null, diagnostics };
  const template: DesiredTemplate = {
    template: name,
    id,
    source,
    ...(fragments.length > 0 ? { fragments: fragments.map((one) => one.file) } : {}),
    ...policies,
    subdomains: subdomains.map(({ text }) => text),
    ignore: rules.map(({ rule }) => rule),
    records: records.map(({ desired }) => desired),
  };
  return { source, name, id, template, diagnostics };
};

const requireKeys = ({ fields, at, report }: TemplatePart): void => {
  if (fields.place('template') === null && fields.place('id') === null)
    report('wrong-type', at, 'the template has no name: write `template: NAME`, or `id: NUMBER`');
  if (fields.place('records') === null && fields.place('include') === null)
    report('wrong-type', at, 'the template has no records: write `records: []` if it is meant to hold none');
};

const nameIn = ({ fields, report }: TemplatePart, id: number | null): string | null => {
  const at = fields.place('template');
  if (at === null) return id === null ? null : nameById(id);
  const name = fields.text('template');
  if (name === '') report('wrong-type', at, '`template` is empty');
  if (name !== null && hasControlCharacter(name))
    report('control-character', at, `the template's name ${quote(name)} holds a control character`);
  return name || null;
};

type Policies = TemplateDefaults & Pick<DesiredTemplate, 'answers' | 'nameservers'>;

const policiesOf = (own: TemplatePart, defaults: TemplateDefaults): Policies => {
  const { fields, report } = own;
  const answers = fields.value('answers');
  const nameservers = fields.texts('nameservers');
  for (const { text, at } of nameservers)
    if (parseNameServer(text) === null)
      report('bad-host', at, `${quote(text)} is not a name server: ${serverForms}`);
  const mapping = fields.mapping('limits');
  const limits = mapping && new Fields(mapping, limitsSchema, own);
  return {
    mode: fields.value('mode') ?? defaults.mode,
    surplus: fields.value('surplus') ?? defaults.surplus,
    adopt: fields.value('adopt') ?? defaults.adopt,
    limits: {
      maxAdds: limits?.value('maxAdds') ?? defaults.limits.maxAdds,
      maxChangePercent: limits?.value('maxChangePercent') ?? defaults.limits.maxChangePercent,
      minRecords: limits?.value('minRecords') ?? defaults.limits.minRecords,
    },
    ...(answers === null ? {} : { answers }),
    ...(nameservers.length === 0 ? {} : { nameservers: nameservers.map(({ text }) => text) }),
  };
};

const serverForms = 'HOST or HOST:PORT (an IPv6 address with a port in brackets)';

/** The rules and records of all parts, in their order. */
const entriesOf = async (parts: readonly TemplatePart[], ttl: number | null) => {
  const rules = [...affordable(parts, 'ignore')].flatMap(([node, part]) => ruleOf(node, part) ?? []);
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
    for (const node of part.fields.items(key)) {
      if (!part.budget.spend(400)) return part.report('unreadable', node.at, tooMuch);
      yield [node, part];
    }
}
