import type { SourceFile } from './source-file.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { parseNameServer } from '../model/name-server.ts';
import type { Place } from '../model/record.ts';
import {
  answersChoices,
  modes,
  nameById,
  surplusPolicies,
  type DesiredTemplate,
  type TemplateDefaults,
  type TemplateLimits,
} from '../model/template.ts';
import { always, parseWindows } from '../model/window.ts';
import { Budget, tooManyPatterns, tooManyRecords } from './budget.ts';
import type { CheckedTemplate, ResolvedIgnoreRule } from './checks/check.ts';
import { hasControlCharacter } from './checks/hosts.ts';
import { runChecks } from './checks/run.ts';
import { quote, type Position } from './diagnostic.ts';
import { scalarsIn } from './fields.ts';
import type { ParsedEntry, ParsedDocument } from './parse-file.ts';
import { includedFiles, type IncludedFile, type Variables } from './includes.ts';
import { inFile, isError, type FileDiagnostic } from './problem.ts';
import { recordsOf, typeIn, type ResolvedRecord } from './resolve-record.ts';
import { limitsSchema, templateSchema, ttlSchema, type ignoreSchema } from './schema.ts';
import { choiceIn, textIn, valueIn } from './values.ts';
import type { ScalarNode } from './yaml/tree.ts';

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

/** Resolves includes, variables and defaults of one document, and checks it. */
export const resolveTemplate = async (
  file: SourceFile,
  document: ParsedDocument,
  { defaults, variables, strict }: TemplateSettings,
  budget = new Budget(),
): Promise<ResolvedTemplate> => {
  const diagnostics: FileDiagnostic[] = inFile(file.path, document.diagnostics);
  const { own, fragments } = includedFiles(file, document, variables, budget, diagnostics);
  const { line, column, fields } = document;
  const source = { file: file.path, line, column };
  const id = valueIn(fields.get('id'), '`id`', templateSchema.shape.id, own) ?? null;
  const name = templateNameIn(own, id);
  const policies = policiesOf(own, defaults);
  const answers = answersOf(own);
  const contents = await contentsOf(own, fragments);
  await runChecks(contents, own.report);
  const isRight =
    file.parsed.diagnostics.length === 0 &&
    !budget.isSpent('problems') &&
    !diagnostics.some((diagnostic) => isError(diagnostic, strict));
  const template: DesiredTemplate | null =
    name === null || !isRight
      ? null
      : {
          template: name,
          id,
          source,
          ...(fragments.length > 0 ? { fragments: fragments.map((one) => one.file) } : {}),
          ...policies,
          ...answers,
          subdomains: contents.subdomains.map(({ text }) => text),
          ignore: contents.rules,
          records: contents.records.map(({ desired }) => desired),
        };
  return { source, name, id, template, diagnostics };
};

const templateNameIn = (own: IncludedFile, id: number | null): string | null => {
  const node = own.document.fields.get('template');
  if (node === undefined) return id === null ? null : nameById(id);
  const name = textIn(node, '`template`', own);
  if (name === '') own.report('wrong-type', node, '`template` is empty');
  if (name !== null && hasControlCharacter(name)) {
    own.report('control-character', node, `the template's name ${quote(name)} holds a control character`);
  }
  return name || null;
};

/** What the checks work on: the content of the fragments, then that of the template's own document. */
const contentsOf = async (
  own: IncludedFile,
  fragments: readonly IncludedFile[],
): Promise<CheckedTemplate> => {
  const node = own.document.fields.get('ttl');
  const seconds = valueIn(node, '`ttl`', ttlSchema, own, 'ttl-range');
  const parts = [...fragments, own];
  const ignore = parts.flatMap((file) => file.document.ignore.flatMap((entry) => ruleOf(entry, file)));
  return {
    ttl: node === undefined || seconds === null ? null : { seconds, ...positionOf(node) },
    subdomains: subdomainsOf(own),
    ignore,
    rules: ignore.map(({ rule }) => rule),
    records: await recordsIn(parts, seconds),
  };
};

const recordsIn = async (parts: readonly IncludedFile[], ttl: number | null): Promise<ResolvedRecord[]> => {
  const records: ResolvedRecord[] = [];
  for (const file of parts) {
    for (const entry of file.document.records) {
      if (isYieldDue()) await yieldToOthers();
      const own = recordsOf(entry, file, ttl);
      if (!file.budget.spend('records', own.length)) {
        file.report('unreadable', entry.node, tooManyRecords);
        return [];
      }
      for (const record of own) records.push(record);
    }
  }
  return records;
};

const policiesOf = (own: IncludedFile, defaults: TemplateDefaults): TemplateDefaults => {
  const { fields } = own.document;
  return {
    mode: choiceIn(fields.get('mode'), '`mode`', modes, own.report) ?? defaults.mode,
    surplus: choiceIn(fields.get('surplus'), '`surplus`', surplusPolicies, own.report) ?? defaults.surplus,
    adopt: valueIn(fields.get('adopt'), '`adopt`', templateSchema.shape.adopt, own) ?? defaults.adopt,
    limits: limitsOf(own, defaults.limits),
    ...windowOf(own, defaults),
  };
};

/** Nothing if there is no time at which changes wait. */
const windowOf = (
  own: IncludedFile,
  { window: usual }: TemplateDefaults,
): Pick<DesiredTemplate, 'window'> => {
  const node = own.document.fields.get('window');
  const text = node === undefined ? null : textIn(node, '`window`', own);
  const window = text === null ? (usual ?? always) : parseWindows(text);
  if (typeof window === 'string') own.report('wrong-type', node!, `\`window\`: ${window}`);
  return typeof window === 'string' || window === always ? {} : { window };
};

/** The settings about name servers, which most files do not have. */
const answersOf = (own: IncludedFile): Pick<DesiredTemplate, 'answers' | 'nameservers'> => {
  const { fields } = own.document;
  const answers = choiceIn(fields.get('answers'), '`answers`', answersChoices, own.report);
  const list = fields.get('nameservers');
  const nameservers =
    list === undefined
      ? []
      : scalarsIn(list, '`nameservers`', own.report).flatMap((node) => nameServerIn(node, own) ?? []);
  return {
    ...(answers === null ? {} : { answers }),
    ...(nameservers.length === 0 ? {} : { nameservers }),
  };
};

const nameServerIn = (node: ScalarNode, own: IncludedFile): string | null => {
  const text = textIn(node, 'a name server', own);
  if (text === null || parseNameServer(text) !== null) return text;
  own.report(
    'bad-host',
    node,
    `${quote(text)} is not a name server: HOST or HOST:PORT (an IPv6 address with a port in brackets)`,
  );
  return null;
};

const limitsOf = (own: IncludedFile, defaults: TemplateLimits): TemplateLimits => {
  const limit = (name: keyof TemplateLimits): number =>
    valueIn(own.document.limits.get(name), `\`${name}\``, limitsSchema.shape[name], own) ?? defaults[name];
  return {
    maxAdds: limit('maxAdds'),
    maxChangePercent: limit('maxChangePercent'),
    minRecords: limit('minRecords'),
  };
};

const subdomainsOf = (own: IncludedFile): (Position & { text: string })[] =>
  own.document.subdomains.flatMap((node) => {
    const text = textIn(node, 'a subdomain', own);
    return text === null ? [] : { text, ...positionOf(node) };
  });

const ruleOf = (
  { node, fields }: ParsedEntry<typeof ignoreSchema>,
  file: IncludedFile,
): ResolvedIgnoreRule[] => {
  if (node.entries.length === 0) file.report('wrong-type', node, emptyRule);
  const type = fields.has('type') ? typeIn(fields.get('type'), node, file) : null;
  const name = textIn(fields.get('name'), '`name`', file);
  const content = textIn(fields.get('content'), '`content`', file);
  const rule = { type, name, content };
  // A rule without its invalid part would match too much.
  if (`${name}${content}`.includes('*') && !file.budget.spend('patterns'))
    file.report('unreadable', node, tooManyPatterns);
  const isComplete = fields.size > 0 && [...fields.keys()].every((key) => rule[key] !== null);
  const at = {
    name: positionOf(fields.get('name') ?? node),
    content: positionOf(fields.get('content') ?? node),
  };
  return isComplete ? [{ rule, place: { file: file.file, ...positionOf(node) }, at, origin: file }] : [];
};

const emptyRule = 'an ignore rule needs `type`, `name` or `content`; empty, it would match everything';

const positionOf = ({ line, column }: Position): Position => ({ line, column });
