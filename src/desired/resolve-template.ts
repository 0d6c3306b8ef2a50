import { UserError } from '../errors.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { parseNameServer } from '../model/name-server.ts';
import type { Place } from '../model/record.ts';
import { nameById, type DesiredTemplate, type TemplateDefaults } from '../model/template.ts';
import { Budget, steps, tooMuch } from './budget.ts';
import { checkTemplate } from './checks.ts';
import { fieldsOf, mappingIn, scalarsIn, textIn, valueIn } from './fields.ts';
import { partsOf, type Part, type Variables } from './includes.ts';
import { parseFile, type ParsedDocument } from './parse-file.ts';
import { inFile, isError, quote, type FileDiagnostic } from './problem.ts';
import { hasControlCharacter, recordsOf, type ResolvedRecord } from './record.ts';
import { limitsSchema, templateSchema, ttlSchema } from './schema.ts';
import type { SourceFile } from './source-file.ts';
import { ruleOf } from './ignore-rule.ts';

export interface TemplateSettings {
  /** Used if the file does not say. */
  readonly defaults: TemplateDefaults;
  readonly variables: Variables;
  /** Warnings count as errors. */
  readonly strict: boolean;
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

/** A template file and its resolved documents. */
export interface ResolvedFile {
  readonly file: SourceFile;
  readonly templates: readonly ResolvedTemplate[];
  readonly usedVariables: ReadonlySet<string>;
}

export const resolveFile = async (
  file: SourceFile,
  settings: TemplateSettings,
  signal?: AbortSignal,
): Promise<ResolvedFile> => {
  const { bytes, ...rest } = file;
  if (bytes === undefined) return { file, ...(await resolveTemplates(file, settings, signal)) };
  const parsed = await parseFile(bytes, file.isFragment);
  const resolved = await resolveTemplates({ ...rest, parsed }, settings, signal);
  // The documents are in the templates now; only the diagnostics of the file are still needed.
  return { file: { ...rest, parsed: { documents: [], diagnostics: parsed.diagnostics } }, ...resolved };
};

const resolveTemplates = async (
  file: SourceFile,
  settings: TemplateSettings,
  signal?: AbortSignal,
): Promise<Omit<ResolvedFile, 'file'>> => {
  const budget = new Budget();
  const templates: ResolvedTemplate[] = [];
  for (const document of file.parsed.documents) {
    if (isYieldDue()) await yieldToOthers();
    if (signal?.aborted === true) throw new UserError(stopping);
    templates.push(await resolveTemplate(file, document, settings, budget));
  }
  return { templates, usedVariables: budget.usedVariables };
};

const stopping = 'loading of template files was cut short: this program is shutting down';

/** Resolves includes, variables and defaults of one document, and checks it. */
const resolveTemplate = async (
  file: SourceFile,
  document: ParsedDocument,
  { defaults, variables, strict }: TemplateSettings,
  budget = new Budget(),
): Promise<ResolvedTemplate> => {
  const diagnostics: FileDiagnostic[] = inFile(file.path, document.diagnostics);
  const { own, fragments } = partsOf(file, document, variables, { budget, diagnostics });
  const parts = [...fragments, own];
  const { fields } = document;
  const source = { file: file.path, ...document.placeOf(document.at) };
  const id = valueIn(fields.get('id'), '`id`', shape.id, own) ?? null;
  const name = nameIn(own, id);
  const policies = policiesOf(own, defaults);
  const ttl = valueIn(fields.get('ttl'), '`ttl`', ttlSchema, own, 'ttl-range');
  const subdomains = scalarsIn(fields.get('subdomains'), '`subdomains`', own.report).flatMap((node) => {
    const text = textIn(node, 'a subdomain', own);
    return text === null ? [] : { text, at: node.at };
  });
  const rules = parts.flatMap((part) => part.document.ignore.flatMap((entry) => ruleOf(entry, part) ?? []));
  const records = await allRecords(parts, ttl);
  await checkTemplate({ name, ttl, subdomains, rules, records, own });
  const isRight =
    file.parsed.diagnostics.length === 0 &&
    !budget.hasMoreProblems &&
    !diagnostics.some((diagnostic) => isError(diagnostic, strict));
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

const { shape } = templateSchema;

const nameIn = (own: Part, id: number | null): string | null => {
  const node = own.document.fields.get('template');
  if (node === undefined) return id === null ? null : nameById(id);
  const name = textIn(node, '`template`', own);
  if (name === '') own.report('wrong-type', node.at, '`template` is empty');
  if (name !== null && hasControlCharacter(name))
    own.report('control-character', node.at, `the template's name ${quote(name)} holds a control character`);
  return name || null;
};

/** The records of the fragments, then those of the template's own document. */
const allRecords = async (parts: readonly Part[], ttl: number | null): Promise<ResolvedRecord[]> => {
  const records: ResolvedRecord[] = [];
  for (const part of parts) {
    for (const entry of part.document.records) {
      if (isYieldDue()) await yieldToOthers();
      const own = recordsOf(entry, part, ttl);
      if (!part.budget.spend(steps.record * own.length)) {
        part.report('unreadable', entry.at, tooMuch);
        return [];
      }
      for (const record of own) records.push(record);
    }
  }
  return records;
};

type Policies = TemplateDefaults & Pick<DesiredTemplate, 'answers' | 'nameservers'>;

const policiesOf = (own: Part, defaults: TemplateDefaults): Policies => {
  const { fields } = own.document;
  const answers = valueIn(fields.get('answers'), '`answers`', shape.answers, own);
  const nameservers = nameServersIn(own);
  return {
    mode: valueIn(fields.get('mode'), '`mode`', shape.mode, own) ?? defaults.mode,
    surplus: valueIn(fields.get('surplus'), '`surplus`', shape.surplus, own) ?? defaults.surplus,
    adopt: valueIn(fields.get('adopt'), '`adopt`', shape.adopt, own) ?? defaults.adopt,
    limits: limitsOf(own, defaults.limits),
    ...(answers == null ? {} : { answers }),
    ...(nameservers.length === 0 ? {} : { nameservers }),
  };
};

const limitsOf = (own: Part, defaults: TemplateDefaults['limits']): TemplateDefaults['limits'] => {
  const node = own.document.fields.get('limits');
  const mapping = node === undefined ? null : mappingIn(node, '`limits`', own.report);
  if (mapping === null) return defaults;
  const fields = fieldsOf(mapping, limitsSchema, own.report);
  const limit = (name: keyof typeof defaults): number =>
    valueIn(fields.get(name), `\`${name}\``, limitsSchema.shape[name], own) ?? defaults[name];
  return {
    maxAdds: limit('maxAdds'),
    maxChangePercent: limit('maxChangePercent'),
    minRecords: limit('minRecords'),
  };
};

const nameServersIn = (own: Part): string[] =>
  scalarsIn(own.document.fields.get('nameservers'), '`nameservers`', own.report).flatMap((node) => {
    const text = textIn(node, 'a name server', own);
    if (text !== null && parseNameServer(text) === null)
      own.report('bad-host', node.at, `${quote(text)} is not a name server: ${serverForms}`);
    return text ?? [];
  });

const serverForms = 'HOST or HOST:PORT (an IPv6 address with a port in brackets)';
