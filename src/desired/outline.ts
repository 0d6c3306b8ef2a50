import type { z } from 'zod';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { Budget, maxDocuments, tooManyProblems } from './budget.ts';
import { faultAt, quote, type Fault, type Position, type FaultReport } from './fault.ts';
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
import type { MappingNode, ScalarNode, YamlDocument, YamlNode } from './yaml-tree.ts';
import { parseYaml } from './yaml.ts';

/** What a file's content alone tells: its documents with their parts in place, variables not yet filled in. */
export interface FileOutline {
  readonly documents: readonly Outline[];
  /** Of the file as a whole: its encoding, its YAML. */
  readonly faults: readonly Fault[];
}

/** A template's document, or a fragment's, in which only the shared keys can stand. */
export interface Outline extends Position {
  readonly fields: Fields<KeyOf<typeof templateSchema>>;
  readonly limits: Fields<KeyOf<typeof limitsSchema>>;
  readonly subdomains: readonly ScalarNode[];
  readonly vars: ReadonlyMap<string, ScalarNode>;
  readonly include: readonly ScalarNode[];
  readonly ignore: readonly OutlineEntry<typeof ignoreSchema>[];
  readonly records: readonly OutlineEntry<typeof recordSchema>[];
  /** Of the document's shape. */
  readonly faults: readonly Fault[];
}

export interface OutlineEntry<Schema extends z.ZodObject> {
  readonly node: MappingNode;
  readonly fields: Fields<KeyOf<Schema>>;
}

const start: Position = { line: 1, column: 1 };

export const outlineOf = async (bytes: Uint8Array, isFragment: boolean): Promise<FileOutline> => {
  const decoded = textOf(bytes);
  if ('fault' in decoded) return { documents: [], faults: [decoded.fault] };
  const yaml = parseYaml(decoded.text);
  const filled = yaml.documents.filter((document) => document.isBroken || !isEmpty(document));
  const excess = filled[maxDocuments];
  if (excess) return { documents: [], faults: [faultAt('unreadable', excess, tooManyDocuments)] };
  const budget = new Budget();
  const own = [...yaml.faults, ...refuseMore(filled, isFragment)].filter(() => budget.take('problems'));
  const documents: Outline[] = [];
  for (const document of filled) documents.push(await documentOutline(document, isFragment, budget));
  // Nothing in the file is right then: whose the faults are that are not listed, nobody noted.
  if (budget.isSpent('problems')) return { documents, faults: [...own, tooManyProblems(start)] };
  const isSilent = documents.length === 0 && own.length === 0 && !isFragment;
  return { documents, faults: isSilent ? [nothingInIt] : own };
};

/** What a fragment without a document holds. */
export const emptyOutline: Outline = {
  line: 1,
  column: 1,
  fields: new Map(),
  limits: new Map(),
  subdomains: [],
  vars: new Map(),
  include: [],
  ignore: [],
  records: [],
  faults: [],
};

const tooManyDocuments = `the file describes more than ${maxDocuments} templates: put some into other files`;

/** A `---` too many makes an empty document; it says nothing, so it is nothing. */
const isEmpty = ({ root }: YamlDocument): boolean =>
  root === null || (root.kind === 'scalar' && root.value === null);

const nothingInIt = faultAt(
  'wrong-type',
  start,
  'the file describes no template: write `template: NAME` and its `records`, or remove it',
);

const refuseMore = ([, second]: readonly YamlDocument[], isFragment: boolean): Fault[] =>
  isFragment && second ? [faultAt('wrong-type', second, 'a fragment is one document')] : [];

const documentOutline = async (
  document: YamlDocument,
  isFragment: boolean,
  budget: Budget,
): Promise<Outline> => {
  const { line, column } = document;
  if (document.isBroken) return { ...emptyOutline, line, column, fields: namesIn(document) };
  const faults: Fault[] = [];
  const report: FaultReport = (check, at, message) => {
    if (budget.take('problems')) faults.push(faultAt(check, at, message));
  };
  const root = mappingIn(document.root!, isFragment ? 'a fragment' : 'a template', report);
  if (root === null) return { ...emptyOutline, line, column, faults };
  const fields: Outline['fields'] = isFragment
    ? fieldsOf(root, fragmentSchema, report)
    : fieldsOf(root, templateSchema, report);
  if (!isFragment) requireKeys(root, report);
  return { line, column, fields, ...(await partsIn(fields, report)), faults };
};

/** Of a document whose syntax is wrong nothing is taken but what tells which template it is. */
const namesIn = ({ root }: YamlDocument): Outline['fields'] => {
  const entries = root?.kind === 'mapping' ? root.entries : [];
  const valueOf = (name: string) => entries.find(({ key }) => key.text === name)?.value;
  const names = (['template', 'id'] as const).map((name) => [name, valueOf(name)] as const);
  return new Map(names.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
};

const requireKeys = ({ entries, ...at }: MappingNode, report: FaultReport): void => {
  const says = (name: string): boolean => entries.some(({ key }) => key.text === name);
  if (!says('template')) report('wrong-type', at, 'the template has no name: write `template: NAME`');
  if (!says('records') && !says('include')) {
    report('wrong-type', at, 'the template has no records: write `records: []` if it is meant to hold none');
  }
};

const partsIn = async (
  fields: Outline['fields'],
  report: FaultReport,
): Promise<Pick<Outline, 'limits' | 'subdomains' | 'vars' | 'include' | 'ignore' | 'records'>> => {
  const { limits, subdomains, vars, include, ignore, records } = Object.fromEntries(fields);
  return {
    limits: limits === undefined ? emptyOutline.limits : limitsIn(limits, report),
    subdomains: subdomains === undefined ? [] : scalarsIn(subdomains, '`subdomains`', report),
    vars: vars === undefined ? emptyOutline.vars : varsIn(vars, report),
    include: include === undefined ? [] : scalarsIn(include, '`include`', report),
    ignore:
      ignore === undefined
        ? []
        : await entriesIn(ignore, ['`ignore`', 'an ignore rule'], ignoreSchema, report),
    records:
      records === undefined ? [] : await entriesIn(records, ['`records`', 'a record'], recordSchema, report),
  };
};

const limitsIn = (node: YamlNode, report: FaultReport): Outline['limits'] => {
  const mapping = mappingIn(node, '`limits`', report);
  return mapping === null ? emptyOutline.limits : fieldsOf(mapping, limitsSchema, report);
};

const varsIn = (node: YamlNode, report: FaultReport): Outline['vars'] => {
  const vars = new Map<string, ScalarNode>();
  for (const { key, value } of mappingIn(node, '`vars`', report)?.entries ?? []) {
    if (!isVariableName(key.text)) {
      report(
        'wrong-type',
        key,
        `a variable's name is a letter or \`_\`, then those, digits, \`.\` and \`-\`, not ${quote(key.text)}`,
      );
    } else if (vars.has(key.text)) {
      report('duplicate-key', key, `\`${key.text}\` is here already`);
    } else {
      const scalar = scalarIn(value, `the variable \`${key.text}\``, report);
      if (scalar !== null) vars.set(key.text, scalar);
    }
  }
  return vars;
};

const entriesIn = async <Schema extends z.ZodObject>(
  node: YamlNode,
  [list, entry]: readonly [string, string],
  schema: Schema,
  report: FaultReport,
): Promise<OutlineEntry<Schema>[]> => {
  const entries: OutlineEntry<Schema>[] = [];
  for (const item of listIn(node, list, report)?.items ?? []) {
    if (isYieldDue()) await yieldToOthers();
    const mapping = mappingIn(item, entry, report);
    if (mapping !== null) entries.push({ node: mapping, fields: fieldsOf(mapping, schema, report) });
  }
  return entries;
};
