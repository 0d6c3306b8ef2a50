import type { z } from 'zod';
import { nearest, suggestion } from '../lib/nearest.ts';
import type { Budget } from './budget.ts';
import type { CheckId } from './check-id.ts';
import { quote, type Report } from './problem.ts';
import { interpolate, type Scope } from './variables.ts';
import { endsInColon } from './read-yaml.ts';
import type { ListNode, MappingNode, ScalarNode, YamlNode } from './yaml.ts';

/** A scalar that has a text. */
export type TextNode = ScalarNode & { readonly text: string };

/**
 * The values of a mapping by known key. Unknown and repeated keys have been reported; the value of an unknown key counts
 * for the key that was evidently meant, so that this one is not reported as missing too.
 */
export type Fields<Key extends string> = ReadonlyMap<Key, YamlNode>;

export type KeyOf<Schema extends z.ZodObject> = keyof Schema['shape'] & string;

/** What reading values needs besides them. */
export interface Reader {
  /** Earlier ones win. */
  readonly scopes: readonly Scope[];
  readonly budget: Budget;
  readonly report: Report;
}

export const fieldsOf = <Schema extends z.ZodObject>(
  { entries }: MappingNode,
  schema: Schema,
  report: Report,
): Fields<KeyOf<Schema>> => {
  const fields = new Map<KeyOf<Schema>, YamlNode>();
  const meant: (readonly [key: string, value: YamlNode])[] = [];
  for (const { key, at, value } of entries) {
    if (!isKey(key, schema)) {
      const known = Object.keys(schema.shape);
      report('unknown-key', at, unknownKey(key, known, value));
      if (key === '<<' && value.kind === 'mapping')
        meant.push(...value.entries.map((merged) => [merged.key, merged.value] as const));
      else meant.push([meantBy(key, known) ?? '', value]);
    } else if (fields.has(key)) report('duplicate-key', at, `\`${key}\` is given twice`);
    else fields.set(key, value);
  }
  for (const [key, value] of meant) if (isKey(key, schema) && !fields.has(key)) fields.set(key, value);
  return fields;
};

const isKey = <Schema extends z.ZodObject>(key: string, schema: Schema): key is KeyOf<Schema> =>
  Object.hasOwn(schema.shape, key);

const unknownKey = (key: string, known: readonly string[], value: YamlNode): string => {
  if (key === '<<')
    return 'merge keys are not supported; put shared entries into a fragment and `include` it';
  // Braces and brackets end a plain text at a comma.
  if (value.kind === 'scalar' && value.text === null && nearest(key, known) === null)
    return `${quote(key)} is a key without a value; if it belongs to the text before the comma, quote the whole text`;
  if (known.includes('content') && remarks.has(key.toLowerCase()))
    return `unknown key ${quote(key)}; a remark is a comment of the file: a blank, \`#\` and the text`;
  const meant = meantBy(key, known);
  return `unknown key ${quote(key)}${meant === null ? `; there are: ${known.join(', ')}` : `; did you mean \`${meant}\`?`}`;
};

const meantBy = (key: string, known: readonly string[]): string | null =>
  known.find((one) => otherNames[one]?.includes(key.toLowerCase())) ?? nearest(key, known);

/** Keys in which other tools keep remarks on a record. */
const remarks: ReadonlySet<string> = new Set(['comment', 'comments', 'note', 'notes', 'description']);

/** What other tools call our keys. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  template: ['name'],
  records: ['entries', 'rrsets'],
  name: ['host', 'hostname', 'label', 'subdomain'],
  content: ['value', 'values', 'data', 'rdata', 'address', 'ip', 'text'],
  priority: ['prio', 'pri', 'preference', 'distance'],
};

export const mappingIn = (
  node: YamlNode,
  what: string,
  report: Report,
  example = 'key: value',
): MappingNode | null => {
  if (node.kind === 'mapping') return node;
  if (node.kind !== 'unread')
    report('wrong-type', node.at, `${what} is a mapping (\`${example}\`), not ${kindOf(node)}`);
  return null;
};

export const listIn = (node: YamlNode | undefined, what: string, report: Report): readonly YamlNode[] => {
  if (node === undefined || node.kind === 'unread') return [];
  if (node.kind === 'list') return node.items;
  const isEmpty = node.kind === 'scalar' && node.text === null;
  const how = isEmpty ? 'write `[]`, or entries that begin with `-`' : 'begin each entry with `-`';
  report('wrong-type', node.at, `${what} is a list, not ${kindOf(node)}: ${how}`);
  return [];
};

/** A scalar that must be there. */
export const scalarIn = (node: YamlNode, what: string, report: Report): TextNode | null => {
  if (isText(node)) return node;
  if (node.kind !== 'unread') report('wrong-type', node.at, whyNoText(node, what));
  return null;
};

const isText = (node: YamlNode): node is TextNode => node.kind === 'scalar' && node.text !== null;

const whyNoText = (node: Exclude<YamlNode, { readonly kind: 'unread' }>, what: string): string => {
  if (node.kind === 'scalar') return `${what} is empty`;
  const key = node.kind === 'mapping' ? node.entries[0]?.key : undefined;
  const isAddress = key !== undefined && /^[\da-f]*:[\da-f:]*:$/i.test(key);
  return isAddress ? endsInColon(`${key}:`) : `${what} is a single value, not ${kindOf(node)}`;
};

export const scalarsIn = (node: YamlNode | undefined, what: string, report: Report): TextNode[] =>
  listIn(node, what, report).flatMap((item) => scalarIn(item, `an entry of ${what}`, report) ?? []);

/** The text of a value with variables interpolated; null if there is none, or that failed, which has been reported. */
export const textIn = (node: YamlNode | undefined, what: string, reader: Reader): string | null => {
  const scalar = node === undefined ? null : scalarIn(node, what, reader.report);
  return scalar === null ? null : interpolated(scalar, reader);
};

/** A value that its schema accepts; null if there is none, or if it is invalid, which has been reported. */
export const valueIn = <Schema extends z.ZodType>(
  node: YamlNode | undefined,
  what: string,
  schema: Schema,
  reader: Reader,
  check: CheckId = 'wrong-type',
): z.output<Schema> | null => {
  const scalar = node === undefined ? null : scalarIn(node, what, reader.report);
  const text = scalar === null ? null : interpolated(scalar, reader);
  if (scalar === null || text === null) return null;
  const result = schema.safeParse(text);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const source = text === scalar.text ? '' : ` (from ${quote(scalar.text)})`;
  const meant = issue!.code === 'invalid_value' ? suggestion(text, issue.values.map(String)) : '';
  reader.report(check, scalar.at, `${what}: ${issue!.message}, not ${quote(text)}${source}${meant}`);
  return null;
};

const interpolated = ({ text, at }: TextNode, { scopes, budget, report }: Reader): string | null => {
  const value = interpolate(text, scopes, budget);
  if (typeof value === 'string') return value;
  report('undefined-variable', at, value.problem);
  return null;
};

const kindOf = (node: ScalarNode | ListNode | MappingNode): string => {
  if (node.kind === 'mapping') return 'a mapping';
  if (node.kind === 'list') return 'a list';
  return node.text === null ? 'empty' : quote(node.text);
};
