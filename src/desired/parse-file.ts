import type { z } from 'zod';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { Budget, maxDocuments, tooManyProblems } from './budget.ts';
import { diagnosticAt, quote, type Diagnostic, type Position, type ReportDiagnostic } from './diagnostic.ts';
import { fieldsOf, listIn, mappingIn, scalarIn, scalarsIn, type Fields, type KeyOf } from './fields.ts';
import {
  fragmentSchema,
  ignoreSchema,
  isVariableName,
  limitsSchema,
  recordSchema,
  templateSchema,
} from './schema.ts';
import { textOf } from './text.ts';
import type { MappingNode, ScalarNode, YamlDocument, YamlNode } from './yaml/tree.ts';
import { parseYaml } from './yaml/parse.ts';

/** The parsed content of a file: its documents, with variables not yet interpolated. */
export interface ParsedFile {
  readonly documents: readonly ParsedDocument[];
  /** About the file as a whole: its encoding and its YAML. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A template's document, or a fragment's, in which only the shared keys can stand. */
export interface ParsedDocument extends Position {
  readonly fields: Fields<KeyOf<typeof templateSchema>>;
  readonly limits: Fields<KeyOf<typeof limitsSchema>>;
  readonly subdomains: readonly ScalarNode[];
  readonly vars: ReadonlyMap<string, ScalarNode>;
  readonly include: readonly ScalarNode[];
  readonly ignore: readonly ParsedEntry<typeof ignoreSchema>[];
  readonly records: readonly ParsedEntry<typeof recordSchema>[];
  /** About the document's structure. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface ParsedEntry<Schema extends z.ZodObject> {
  readonly node: MappingNode;
  readonly fields: Fields<KeyOf<Schema>>;
}

const start: Position = { line: 1, column: 1 };

export const parseFile = async (bytes: Uint8Array, isFragment: boolean): Promise<ParsedFile> => {
  const decoded = textOf(bytes);
  if ('diagnostic' in decoded) return { documents: [], diagnostics: [decoded.diagnostic] };
  const yaml = parseYaml(decoded.text);
  const nonEmpty = yaml.documents.filter((document) => document.isBroken || !isEmpty(document));
  const excess = nonEmpty[maxDocuments];
  if (excess) return { documents: [], diagnostics: [diagnosticAt('unreadable', excess, tooManyDocuments)] };
  const budget = new Budget();
  const found = isTemplate(decoded.text, nonEmpty) ? yaml.diagnostics : withoutQuotes(yaml.diagnostics);
  const own = [...found, ...refuseMore(nonEmpty, isFragment)].filter(() => budget.spend('problems'));
  const documents: ParsedDocument[] = [];
  for (const document of nonEmpty)
    documents.push(await parseDocument({ document, text: decoded.text, isFragment, budget }));
  // The dropped diagnostics may belong to any document, so the whole file counts as invalid.
  if (budget.isSpent('problems')) return { documents, diagnostics: [...own, tooManyProblems(start)] };
  const isNothing = documents.length === 0 && own.length === 0 && !isFragment;
  return { documents, diagnostics: isNothing ? [nothingInIt] : own };
};

/** The content of a fragment without a document. */
export const emptyDocument: ParsedDocument = {
  line: 1,
  column: 1,
  fields: new Map(),
  limits: new Map(),
  subdomains: [],
  vars: new Map(),
  include: [],
  ignore: [],
  records: [],
  diagnostics: [],
};

/**
 * Whether any key of a template is there. Settings may lead to a file of another kind, as a token or a key: no message
 * quotes that.
 */
const isTemplate = (text: string, documents: readonly YamlDocument[]): boolean =>
  ownKeys.test(text) ||
  documents.some(
    ({ root }) => root?.kind === 'mapping' && root.entries.some(({ key }) => isOwnKey(key.text)),
  );

const isOwnKey = (key: string): boolean => Object.hasOwn(templateSchema.shape, key);
const ownKeys = new RegExp(`^(?:${Object.keys(templateSchema.shape).join('|')})[ \\t]*:`, 'm');

const withoutQuotes = (diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  diagnostics.map((one) => (mayQuote(one.message) ? { ...one, message: noTemplate } : one));

const mayQuote = (message: string): boolean => /[`"']/.test(message) && !message.startsWith('the file is ');

const noTemplate = 'this is not YAML, and no key of a template begins a line: is it another kind of file?';

const tooManyDocuments = `the file describes more than ${maxDocuments} templates: put some into other files`;

/** An extra `---` makes an empty document, which is ignored. */
const isEmpty = ({ root }: YamlDocument): boolean =>
  root === null || (root.kind === 'scalar' && root.value === null);

const nothingInIt = diagnosticAt(
  'wrong-type',
  start,
  'the file describes no template: write `template: NAME` and its `records`, or remove it',
);

const refuseMore = ([, second]: readonly YamlDocument[], isFragment: boolean): Diagnostic[] =>
  isFragment && second ? [diagnosticAt('wrong-type', second, 'a fragment is one document')] : [];

const parseDocument = async ({
  document,
  text,
  isFragment,
  budget,
}: {
  readonly document: YamlDocument;
  readonly text: string;
  readonly isFragment: boolean;
  readonly budget: Budget;
}): Promise<ParsedDocument> => {
  const { line, column } = document;
  if (document.isBroken) return { ...emptyDocument, line, column, fields: namesIn(document) };
  const diagnostics: Diagnostic[] = [];
  const report: ReportDiagnostic = (check, at, message) => {
    if (budget.spend('problems')) diagnostics.push(diagnosticAt(check, at, message));
  };
  const what = isFragment ? 'a fragment' : 'a template';
  const root = document.root?.kind === 'scalar' ? null : mappingIn(document.root!, what, report);
  if (document.root?.kind === 'scalar') report('wrong-type', document.root, notText(what));
  if (root === null) return { ...emptyDocument, line, column, diagnostics };
  const fields: ParsedDocument['fields'] = isFragment
    ? fieldsOf(root, fragmentSchema, report)
    : fieldsOf(root, templateSchema, report);
  if (!isFragment) requireKeys(fields, root, report);
  const sections = await sectionsIn(fields, report);
  findCommentsAfterTexts(text, sections.records, report);
  return { line, column, fields, ...sections, diagnostics };
};

/** ` #` begins a comment: a text without quotes ends there, though its author may have meant it to go on. */
const findCommentsAfterTexts = (
  text: string,
  records: ParsedDocument['records'],
  report: ReportDiagnostic,
): void => {
  if (!/\S[ \t]+#/.test(text)) return;
  const lines = text.split('\n');
  for (const { fields } of records) {
    const [type, content] = [fields.get('type'), fields.get('content')];
    if (content === undefined || type?.kind !== 'scalar' || type.text.toUpperCase() !== 'TXT') continue;
    for (const node of content.kind === 'list' ? content.items : [content]) {
      if (node.kind !== 'scalar' || node.text === '') continue;
      const written = lines[node.line - 1]?.slice(node.column - 1) ?? '';
      if (written.startsWith(node.text) && /^[ \t]+#/.test(written.slice(node.text.length)))
        report(
          'comment-after-text',
          node,
          'the text ends here, since ` #` begins a comment: quote it, or put the comment on a line of its own',
        );
    }
  }
};

const notText = (what: string): string =>
  `${what} is a mapping (\`key: value\`), and this file has a text alone`;

/** The name and id of a document with a syntax error, to identify its template. */
const namesIn = ({ root }: YamlDocument): ParsedDocument['fields'] => {
  const entries = root?.kind === 'mapping' ? root.entries : [];
  const valueOf = (name: string) => entries.find(({ key }) => key.text === name)?.value;
  const names = (['template', 'id'] as const).map((name) => [name, valueOf(name)] as const);
  return new Map(names.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
};

const requireKeys = (fields: ParsedDocument['fields'], at: Position, report: ReportDiagnostic): void => {
  if (!fields.has('template') && !fields.has('id'))
    report('wrong-type', at, 'the template has no name: write `template: NAME`, or `id: NUMBER`');
  if (!fields.has('records') && !fields.has('include')) {
    report('wrong-type', at, 'the template has no records: write `records: []` if it is meant to hold none');
  }
};

const sectionsIn = async (
  fields: ParsedDocument['fields'],
  report: ReportDiagnostic,
): Promise<Pick<ParsedDocument, 'limits' | 'subdomains' | 'vars' | 'include' | 'ignore' | 'records'>> => {
  const { limits, subdomains, vars, include, ignore, records } = Object.fromEntries(fields);
  return {
    limits: limits === undefined ? emptyDocument.limits : limitsIn(limits, report),
    subdomains: subdomains === undefined ? [] : scalarsIn(subdomains, '`subdomains`', report),
    vars: vars === undefined ? emptyDocument.vars : varsIn(vars, report),
    include: include === undefined ? [] : scalarsIn(include, '`include`', report),
    ignore:
      ignore === undefined
        ? []
        : await entriesIn(
            ignore,
            ['`ignore`', 'an ignore rule', '{type: TXT, name: "_acme-challenge*"}'],
            ignoreSchema,
            report,
          ),
    records:
      records === undefined
        ? []
        : await entriesIn(
            records,
            ['`records`', 'a record', '{type: A, name: www, content: 192.0.2.1}'],
            recordSchema,
            report,
          ),
  };
};

const limitsIn = (node: YamlNode, report: ReportDiagnostic): ParsedDocument['limits'] => {
  const mapping = mappingIn(node, '`limits`', report);
  return mapping === null ? emptyDocument.limits : fieldsOf(mapping, limitsSchema, report);
};

const varsIn = (node: YamlNode, report: ReportDiagnostic): ParsedDocument['vars'] => {
  const vars = new Map<string, ScalarNode>();
  for (const { key, value } of mappingIn(node, '`vars`', report)?.entries ?? []) {
    if (!isVariableName(key.text)) {
      report(
        'wrong-type',
        key,
        `a variable's name is a letter or \`_\`, then those, digits, \`.\` and \`-\`, not ${quote(key.text)}`,
      );
    } else if (vars.has(key.text)) {
      report('duplicate-key', key, `\`${key.text}\` is given twice`);
    } else {
      const scalar = scalarIn(value, `the variable \`${key.text}\``, report);
      if (scalar !== null) vars.set(key.text, scalar);
    }
  }
  return vars;
};

const entriesIn = async <Schema extends z.ZodObject>(
  node: YamlNode,
  [list, entry, example]: readonly [list: string, entry: string, example: string],
  schema: Schema,
  report: ReportDiagnostic,
): Promise<ParsedEntry<Schema>[]> => {
  const entries: ParsedEntry<Schema>[] = [];
  for (const item of listIn(node, list, report)?.items ?? []) {
    if (isYieldDue()) await yieldToOthers();
    const mapping = mappingIn(item, entry, report, example);
    if (mapping !== null) entries.push({ node: mapping, fields: fieldsOf(mapping, schema, report) });
  }
  return entries;
};
