import type { z } from 'zod';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { Budget, steps, tooMuch } from './budget.ts';
import {
  fieldsOf,
  listIn,
  mappingIn,
  scalarIn,
  scalarsIn,
  type Fields,
  type KeyOf,
  type TextNode,
} from './fields.ts';
import { quote, type Diagnostic, type Report } from './problem.ts';
import {
  fragmentSchema,
  identitySchema,
  ignoreSchema,
  isVariableName,
  recordSchema,
  templateSchema,
} from './schema.ts';
import { placesIn, textOf } from './text.ts';
import type { Scope } from './variables.ts';
import type { MappingNode, Yaml, YamlDocument, YamlNode } from './yaml.ts';
import { readYaml } from './read-yaml.ts';

/** The content of a file: its documents, with variables not yet interpolated. */
export interface ParsedFile {
  readonly documents: readonly ParsedDocument[];
  /** About the file as a whole: its encoding and its YAML. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A template's document, or a fragment's, in which only the shared keys can stand. */
export interface ParsedDocument {
  readonly at: number;
  /** The line and column of an offset. */
  readonly placeOf: ReturnType<typeof placesIn>;
  readonly fields: Fields<KeyOf<typeof templateSchema>>;
  readonly vars: Scope;
  readonly include: readonly TextNode[];
  readonly ignore: readonly ParsedEntry<typeof ignoreSchema>[];
  readonly records: readonly ParsedEntry<typeof recordSchema>[];
  /** About the document's structure. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface ParsedEntry<Schema extends z.ZodObject> {
  readonly at: number;
  readonly fields: Fields<KeyOf<Schema>>;
}

export const parseFile = async (bytes: Uint8Array, isFragment: boolean): Promise<ParsedFile> => {
  const decoded = textOf(bytes);
  if ('diagnostic' in decoded) return { documents: [], diagnostics: [decoded.diagnostic] };
  const { text } = decoded;
  const yaml = readYaml(text);
  const hasComments = /\S[ \t]+#/.test(text);
  const source: Source = { text, hasComments, placeOf: placesIn(text), isFragment, budget: new Budget() };
  const own: Diagnostic[] = [];
  const report = reportTo(own, own, source);
  const mayQuote = isTemplate(text, yaml);
  for (const { check, at, message } of yaml.problems)
    report(check, at, mayQuote || !isQuoting(message) ? message : noTemplate);
  // An extra `---` makes an empty document.
  const nonEmpty = yaml.documents.filter(({ root, isBroken }) => isBroken || !isEmpty(root));
  const [, second] = nonEmpty;
  if (isFragment && second) report('wrong-type', second.root.at, 'a fragment is one document');
  const documents: ParsedDocument[] = [];
  if (isFragment && nonEmpty.length + own.length === 0) nonEmpty.push(nothing);
  for (const document of nonEmpty) {
    if (source.budget.spend(steps.document)) documents.push(await parseDocument(document, own, source));
    else
      return { documents: [], diagnostics: [{ check: 'unreadable', message: tooMuch, line: 1, column: 1 }] };
  }
  if (nonEmpty.length + own.length === 0 && !isFragment) report('wrong-type', 0, nothingInIt);
  return { documents, diagnostics: own };
};

interface Source extends Pick<ParsedDocument, 'placeOf'> {
  readonly text: string;
  /** Whether any comment stands behind something else. */
  readonly hasComments: boolean;
  readonly isFragment: boolean;
  readonly budget: Budget;
}

/** Problems that are left out may belong to any document, so `own`, of the file as a whole, says that there are more. */
const reportTo =
  (list: Diagnostic[], own: Diagnostic[], { placeOf, budget }: Source): Report =>
  (check, at, message) =>
    budget.report(list, { check, message, ...placeOf(at) }, own);

/**
 * Whether any key of a template is there. Settings may lead to a file of another kind, as a token or a key: no message
 * quotes that.
 */
const isTemplate = (text: string, { documents }: Yaml): boolean =>
  ownKeys.test(text) ||
  documents.some(({ root }) => root.kind === 'mapping' && root.entries.some(({ key }) => isOwnKey(key)));

const isOwnKey = (key: string): boolean => Object.hasOwn(templateSchema.shape, key);
const ownKeys = new RegExp(`^(?:${Object.keys(templateSchema.shape).join('|')})[ \\t]*:`, 'm');

const isQuoting = (message: string): boolean => /[`"']/.test(message) && !message.startsWith('the file is ');

const noTemplate = 'this is not YAML, and no key of a template begins a line: is it another kind of file?';

const isEmpty = (node: YamlNode): boolean => node.kind === 'scalar' && node.text === null;

/** A fragment may be empty. */
const nothing: YamlDocument = { root: { kind: 'mapping', entries: [], at: 0 }, isBroken: false };

const nothingInIt = 'the file describes no template: write `template: NAME` and its `records`, or remove it';

const parseDocument = async (
  { root, isBroken }: YamlDocument,
  own: Diagnostic[],
  source: Source,
): Promise<ParsedDocument> => {
  const { placeOf, isFragment } = source;
  const diagnostics: Diagnostic[] = [];
  const report = reportTo(diagnostics, own, source);
  const empty = { vars: new Map(), include: [], ignore: [], records: [] };
  const document = { at: root.at, placeOf, diagnostics };
  if (isBroken) {
    // Its name and id tell which template it is.
    const fields = root.kind === 'mapping' ? fieldsOf(root, identitySchema, () => undefined) : new Map();
    return { ...document, fields, ...empty };
  }
  const what = isFragment ? 'a fragment' : 'a template';
  if (root.kind === 'scalar')
    report('wrong-type', root.at, `${what} is a mapping (\`key: value\`), and this file has a text alone`);
  const mapping = root.kind === 'scalar' ? null : mappingIn(root, what, report);
  if (mapping === null) return { ...document, fields: new Map(), ...empty };
  const fields: ParsedDocument['fields'] = isFragment
    ? fieldsOf(mapping, fragmentSchema, report)
    : fieldsOf(mapping, templateSchema, report);
  if (!isFragment) requireKeys(fields, root.at, report);
  const records = await entriesIn(fields.get('records'), recordSchema, recordWords, report);
  const sections = {
    vars: varsIn(fields.get('vars'), report),
    include: scalarsIn(fields.get('include'), '`include`', report),
    ignore: await entriesIn(fields.get('ignore'), ignoreSchema, ruleWords, report),
    records,
  };
  if (source.hasComments) findCommentsAfterTexts(source.text, records, report);
  return { ...document, fields, ...sections };
};

const requireKeys = (fields: ParsedDocument['fields'], at: number, report: Report): void => {
  if (!fields.has('template') && !fields.has('id'))
    report('wrong-type', at, 'the template has no name: write `template: NAME`, or `id: NUMBER`');
  if (!fields.has('records') && !fields.has('include'))
    report('wrong-type', at, 'the template has no records: write `records: []` if it is meant to hold none');
};

const varsIn = (node: YamlNode | undefined, report: Report): Scope => {
  const vars = new Map<string, string>();
  const mapping = node === undefined ? null : mappingIn(node, '`vars`', report);
  for (const { key, at, value } of mapping?.entries ?? []) {
    const scalar = scalarIn(value, `the variable ${quote(key)}`, report);
    if (!isVariableName(key)) report('wrong-type', at, variableName(key));
    else if (vars.has(key)) report('duplicate-key', at, `\`${key}\` is given twice`);
    else if (scalar !== null) vars.set(key, scalar.text);
  }
  return vars;
};

const variableName = (key: string): string =>
  `a variable's name is a letter or \`_\`, then those, digits, \`.\` and \`-\`, not ${quote(key)}`;

const recordWords = ['`records`', 'a record', '{type: A, name: www, content: 192.0.2.1}'] as const;
const ruleWords = ['`ignore`', 'an ignore rule', '{type: TXT, name: "_acme-challenge*"}'] as const;

const entriesIn = async <Schema extends z.ZodObject>(
  node: YamlNode | undefined,
  schema: Schema,
  [list, entry, example]: readonly [list: string, entry: string, example: string],
  report: Report,
): Promise<ParsedEntry<Schema>[]> => {
  const entries: ParsedEntry<Schema>[] = [];
  for (const item of listIn(node, list, report)) {
    if (isYieldDue()) await yieldToOthers();
    const mapping: MappingNode | null = mappingIn(item, entry, report, example);
    if (mapping !== null) entries.push({ at: mapping.at, fields: fieldsOf(mapping, schema, report) });
  }
  return entries;
};

/** ` #` begins a comment: a text without quotes ends there, though its author may have meant it to go on. */
const findCommentsAfterTexts = (text: string, records: ParsedDocument['records'], report: Report): void => {
  const comment = /[ \t]+#/y;
  for (const { fields } of records) {
    const [type, content] = [fields.get('type'), fields.get('content')];
    if (content === undefined || type?.kind !== 'scalar' || type.text?.toUpperCase() !== 'TXT') continue;
    for (const node of content.kind === 'list' ? content.items : [content]) {
      if (node.kind !== 'scalar' || !node.text || !text.startsWith(node.text, node.at)) continue;
      comment.lastIndex = node.at + node.text.length;
      if (comment.test(text)) report('comment-after-text', node.at, endsHere);
    }
  }
};

const endsHere =
  'the text ends here, since ` #` begins a comment: quote it, or put the comment on a line of its own';
