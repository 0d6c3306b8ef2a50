import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { parseNameServer } from '../model/name-server.ts';
import type { Place } from '../model/record.ts';
import {
  answersChoices,
  modes,
  surplusPolicies,
  type DesiredTemplate,
  type TemplateDefaults,
  type TemplateLimits,
} from '../model/template.ts';
import { Budget, tooManyPatterns, tooManyRecords } from './budget.ts';
import type { CheckedTemplate, IgnoreDraft } from './checks/check.ts';
import { hasControlCharacter } from './checks/hosts.ts';
import { runChecks } from './checks/run.ts';
import { quote, type Position } from './fault.ts';
import { scalarsIn } from './fields.ts';
import type { OutlineEntry, Outline } from './outline.ts';
import { partsOf, type Part, type Variables } from './parts.ts';
import { atFile, isError, type Finding } from './problem.ts';
import { recordsOf, typeIn, type RecordDraft } from './record-draft.ts';
import { limitsSchema, templateSchema, ttlSchema, type ignoreSchema } from './schema.ts';
import type { SourceFile } from './snapshot.ts';
import { choiceIn, textIn, valueIn } from './values.ts';
import type { ScalarNode } from './yaml-tree.ts';

export interface TemplateSettings {
  /** Where the file is silent. */
  readonly defaults: TemplateDefaults;
  readonly variables: Variables;
  /** Warnings count as errors. */
  readonly strict: boolean;
}

/** What became of one document. */
export interface TemplateDraft {
  readonly source: Place;
  /** Known also of many a template that is wrong. */
  readonly name: string | null;
  readonly id: number | null;
  /** Null where anything in it is wrong. */
  readonly template: DesiredTemplate | null;
  readonly findings: readonly Finding[];
}

/** Fills one document in, with its fragments, variables and defaults, and checks it. */
export const draftTemplate = async (
  file: SourceFile,
  outline: Outline,
  { defaults, variables, strict }: TemplateSettings,
  budget = new Budget(),
): Promise<TemplateDraft> => {
  const findings: Finding[] = atFile(file.path, outline.faults);
  const { own, fragments } = partsOf(file, outline, variables, budget, findings);
  const { line, column, fields } = outline;
  const source = { file: file.path, line, column };
  const name = templateNameIn(own);
  const id = valueIn(fields.get('id'), '`id`', templateSchema.shape.id, own) ?? null;
  const policies = policiesOf(own, defaults);
  const answers = answersOf(own);
  const contents = await contentsOf(own, fragments);
  await runChecks(contents, own.report);
  const isRight =
    file.outline.faults.length === 0 &&
    !budget.isSpent('problems') &&
    !findings.some((finding) => isError(finding, strict));
  const template: DesiredTemplate | null =
    name === null || !isRight
      ? null
      : {
          template: name,
          id,
          source,
          ...policies,
          ...answers,
          subdomains: contents.subdomains.map(({ text }) => text),
          ignore: contents.rules,
          records: contents.records.map(({ record }) => record),
        };
  return { source, name, id, template, findings };
};

const templateNameIn = (own: Part): string | null => {
  const node = own.outline.fields.get('template');
  const name = textIn(node, '`template`', own);
  if (name === '') own.report('wrong-type', node!, '`template` is empty');
  if (name !== null && hasControlCharacter(name)) {
    own.report('control-character', node!, `the template's name ${quote(name)} holds a control character`);
  }
  return name || null;
};

/** All that the checks look at: what the fragments say, then what the template's own document does. */
const contentsOf = async (own: Part, fragments: readonly Part[]): Promise<CheckedTemplate> => {
  const node = own.outline.fields.get('ttl');
  const seconds = valueIn(node, '`ttl`', ttlSchema, own, 'ttl-range');
  const parts = [...fragments, own];
  const ignore = parts.flatMap((part) => part.outline.ignore.flatMap((entry) => ruleOf(entry, part)));
  return {
    ttl: node === undefined || seconds === null ? null : { seconds, ...positionOf(node) },
    subdomains: subdomainsOf(own),
    ignore,
    rules: ignore.map(({ rule }) => rule),
    records: await recordsIn(parts, seconds),
  };
};

const recordsIn = async (parts: readonly Part[], ttl: number | null): Promise<RecordDraft[]> => {
  const records: RecordDraft[] = [];
  for (const part of parts) {
    for (const entry of part.outline.records) {
      if (isYieldDue()) await yieldToOthers();
      const own = recordsOf(entry, part, ttl);
      if (!part.budget.take('records', own.length)) {
        part.report('unreadable', entry.node, tooManyRecords);
        return [];
      }
      for (const record of own) records.push(record);
    }
  }
  return records;
};

const policiesOf = (own: Part, defaults: TemplateDefaults): TemplateDefaults => {
  const { fields } = own.outline;
  return {
    mode: choiceIn(fields.get('mode'), '`mode`', modes, own.report) ?? defaults.mode,
    surplus: choiceIn(fields.get('surplus'), '`surplus`', surplusPolicies, own.report) ?? defaults.surplus,
    adopt: valueIn(fields.get('adopt'), '`adopt`', templateSchema.shape.adopt, own) ?? defaults.adopt,
    limits: limitsOf(own, defaults.limits),
  };
};

/** What is said of the answers of name servers: nothing in most files. */
const answersOf = (own: Part): Pick<DesiredTemplate, 'answers' | 'nameservers'> => {
  const { fields } = own.outline;
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

const nameServerIn = (node: ScalarNode, own: Part): string | null => {
  const text = textIn(node, 'a name server', own);
  if (text === null || parseNameServer(text) !== null) return text;
  own.report(
    'bad-host',
    node,
    `${quote(text)} is not a name server: HOST or HOST:PORT (an IPv6 address with a port in brackets)`,
  );
  return null;
};

const limitsOf = (own: Part, defaults: TemplateLimits): TemplateLimits => {
  const limit = (name: keyof TemplateLimits): number =>
    valueIn(own.outline.limits.get(name), `\`${name}\``, limitsSchema.shape[name], own) ?? defaults[name];
  return {
    maxAdds: limit('maxAdds'),
    maxChangePercent: limit('maxChangePercent'),
    minRecords: limit('minRecords'),
  };
};

const subdomainsOf = (own: Part): (Position & { text: string })[] =>
  own.outline.subdomains.flatMap((node) => {
    const text = textIn(node, 'a subdomain', own);
    return text === null ? [] : { text, ...positionOf(node) };
  });

const ruleOf = ({ node, fields }: OutlineEntry<typeof ignoreSchema>, part: Part): IgnoreDraft[] => {
  if (node.entries.length === 0) part.report('wrong-type', node, emptyRule);
  const type = fields.has('type') ? typeIn(fields.get('type'), node, part) : null;
  const name = textIn(fields.get('name'), '`name`', part);
  const content = textIn(fields.get('content'), '`content`', part);
  const rule = { type, name, content };
  // A rule of which a part is wrong would match more than it says.
  if (`${name}${content}`.includes('*') && !part.budget.take('patterns'))
    part.report('unreadable', node, tooManyPatterns);
  const isWhole = fields.size > 0 && [...fields.keys()].every((key) => rule[key] !== null);
  const at = {
    name: positionOf(fields.get('name') ?? node),
    content: positionOf(fields.get('content') ?? node),
  };
  return isWhole ? [{ rule, place: { file: part.file, ...positionOf(node) }, at, origin: part }] : [];
};

const emptyRule = 'an ignore rule needs `type`, `name` or `content`; empty, it would match everything';

const positionOf = ({ line, column }: Position): Position => ({ line, column });
