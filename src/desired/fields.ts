import type { z } from 'zod';
import { quote, type ReportDiagnostic } from './diagnostic.ts';
import { nearest } from '../lib/nearest.ts';
import type { ListNode, MappingNode, ScalarNode, YamlNode } from './yaml/tree.ts';

/**
 * The values of a mapping by known key. Unknown and repeated keys have been reported; the value of an unknown key counts
 * for the key that was evidently meant, so that this one is not reported as missing too.
 */
export type Fields<Key extends string> = ReadonlyMap<Key, YamlNode>;

export type KeyOf<Schema extends z.ZodObject> = keyof Schema['shape'] & string;

export const fieldsOf = <Schema extends z.ZodObject>(
  node: MappingNode,
  schema: Schema,
  report: ReportDiagnostic,
): Fields<KeyOf<Schema>> => {
  const fields = new Map<KeyOf<Schema>, YamlNode>();
  const known = Object.keys(schema.shape);
  const meant: (readonly [key: string, value: YamlNode])[] = [];
  for (const { key, value } of node.entries) {
    if (!isKey(key.text, schema)) {
      const isBare = value.kind === 'scalar' && value.value === null && value.text === '';
      report('unknown-key', key, unknownKey(key.text, known, isBare));
      if (key.text === '<<' && value.kind === 'mapping')
        meant.push(...value.entries.map((merged) => [merged.key.text, merged.value] as const));
      else meant.push([meantBy(key.text, known) ?? '', value]);
    } else if (fields.has(key.text)) report('duplicate-key', key, `\`${key.text}\` is given twice`);
    else fields.set(key.text, value);
  }
  for (const [key, value] of meant) if (isKey(key, schema) && !fields.has(key)) fields.set(key, value);
  return fields;
};

export const mappingIn = (
  node: YamlNode,
  what: string,
  report: ReportDiagnostic,
  example = 'key: value',
): MappingNode | null => {
  if (node.kind === 'mapping') return node;
  if (node.kind === 'unread') return null;
  report('wrong-type', node, `${what} is a mapping (\`${example}\`), not ${kindOf(node)}`);
  return null;
};

export const listIn = (node: YamlNode, what: string, report: ReportDiagnostic): ListNode | null => {
  if (node.kind === 'list') return node;
  if (node.kind === 'unread') return null;
  const isEmpty = node.kind === 'scalar' && node.value === null;
  const how = isEmpty ? 'write `[]`, or entries that begin with `-`' : 'begin each entry with `-`';
  report('wrong-type', node, `${what} is a list, not ${kindOf(node)}: ${how}`);
  return null;
};

/** A scalar that must be there. */
export const scalarIn = (node: YamlNode, what: string, report: ReportDiagnostic): ScalarNode | null => {
  if (node.kind === 'scalar' && node.value !== null) return node;
  if (node.kind === 'unread') return null;
  report(
    'wrong-type',
    node,
    node.kind === 'scalar' ? `${what} is empty` : `${what} is a single value, not ${kindOf(node)}`,
  );
  return null;
};

export const scalarsIn = (node: YamlNode, what: string, report: ReportDiagnostic): ScalarNode[] =>
  (listIn(node, what, report)?.items ?? []).flatMap(
    (item) => scalarIn(item, `an entry of ${what}`, report) ?? [],
  );

const isKey = <Schema extends z.ZodObject>(key: string, schema: Schema): key is KeyOf<Schema> =>
  Object.hasOwn(schema.shape, key);

const unknownKey = (key: string, known: readonly string[], isBare: boolean): string => {
  if (key === '<<')
    return 'merge keys are not supported; put shared entries into a fragment and `include` it';
  // Braces and brackets end a plain text at a comma.
  if (isBare && nearest(key, known) === null)
    return `${quote(key)} is a key without a value; if it belongs to the text before the comma, quote the whole text`;
  if (known.includes('content') && remarks.has(key.toLowerCase()))
    return `unknown key ${quote(key)}; a remark is a comment of the file: a blank, \`#\` and the text`;
  const meant = meantBy(key, known);
  const hint = meant === null ? `; there are: ${known.join(', ')}` : `; did you mean \`${meant}\`?`;
  return `unknown key ${quote(key)}${hint}`;
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

const kindOf = (node: ScalarNode | ListNode | MappingNode): string => {
  if (node.kind === 'mapping') return 'a mapping';
  if (node.kind === 'list') return 'a list';
  return node.value === null ? 'empty' : quote(node.text);
};
