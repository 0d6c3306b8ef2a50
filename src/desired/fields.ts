import { z } from 'zod';
import { nearest } from '../lib/nearest.ts';
import { interpolated, type Part } from './part.ts';
import { endsInColon, quote } from './problem.ts';
import { checkOfKey, literal, oneOrMore, text as anyText, variableName } from './schema.ts';
import type { MappingNode, YamlNode } from './yaml.ts';

/** What a mapping says. */
export interface Fields<Shape extends z.ZodRawShape> {
  /** Where the mapping stands. */
  readonly at: number;
  readonly node: (key: keyof Shape & string) => YamlNode | undefined;
  /** Null if it is not there, or is wrong, which is reported. */
  readonly value: <Key extends keyof Shape & string>(key: Key) => ValueOf<Shape[Key]> | null;
}

/** Of lists, the elements that are right, with their places; lists of mappings are read element by element. */
type ValueOf<Schema> =
  Schema extends z.ZodOptional<infer Inner>
    ? ValueOf<Inner>
    : Schema extends z.ZodArray<infer Element>
      ? readonly (Element extends z.ZodObject ? YamlNode : Spot<z.output<Element>>)[]
      : Schema extends typeof oneOrMore
        ? readonly Spot<string>[]
        : Schema extends z.ZodRecord
          ? ReadonlyMap<string, string>
          : Schema extends z.ZodObject<infer Shape>
            ? Fields<Shape>
            : z.output<Schema & z.ZodType>;

export interface Spot<Value> {
  readonly value: Value;
  readonly at: number;
}

/**
 * The fields of a mapping by known key: unknown and repeated keys are reported. The value of an unknown key counts for the
 * key that was evidently meant, so that this one is not reported as missing too. `known` has the keys that may be there.
 */
export const fieldsIn = <Shape extends z.ZodRawShape>(
  node: YamlNode,
  what: string,
  { shape }: { readonly shape: Shape },
  part: Part,
  known: object = shape,
): Fields<Shape> | null => {
  const mapping = mappingIn(node, what, part);
  if (mapping === null) return null;
  const nodes = new Map<string, YamlNode>();
  const meant = new Map<string | null, YamlNode>();
  for (const { key, at, value } of mapping.entries)
    if (!Object.hasOwn(known, key)) {
      const keys = Object.keys(known);
      part.report('unknown-key', at, unknownKey(key, keys, value));
      meant.set(meantBy(key, keys), value);
    } else if (nodes.has(key)) part.report('duplicate-key', at, twice(key));
    else nodes.set(key, value);
  for (const [key, value] of meant) if (key !== null && !nodes.has(key)) nodes.set(key, value);
  return {
    at: node.at,
    node: (key) => nodes.get(key),
    value: (key) => {
      const found = nodes.get(key);
      return found === undefined ? null : valueIn(found, key, shape[key], part);
    },
  };
};

const mappingIn = (node: YamlNode, what: string, { report }: Part): MappingNode | null => {
  if (node.kind === 'mapping') return node;
  report('wrong-type', node.at, `${what} is a mapping (\`key: value\`), not ${kindOf(node)}`);
  return null;
};

const twice = (key: string): string => `\`${key}\` is given twice: keep one`;

const unknownKey = (key: string, known: readonly string[], value: YamlNode): string => {
  if (key === '<<')
    return 'merge keys are not supported; put shared entries into a fragment and `include` it';
  const meant = meantBy(key, known);
  if (meant !== null) return `unknown key ${quote(key)}; did you mean \`${meant}\`?`;
  // Braces and brackets end a plain text at a comma.
  if (value.kind === 'scalar' && value.text === null)
    return `${quote(key)} is a key without a value; if it belongs to the text before the comma, quote the whole text`;
  return `unknown key ${quote(key)}; there are: ${known.join(', ')}`;
};

const meantBy = (key: string, known: readonly string[]): string | null =>
  known.find((one) => otherNames[one]?.includes(key.toLowerCase())) ?? nearest(key, known);

/** What other tools call our keys. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  template: ['name'],
  records: ['entries', 'rrsets'],
  name: ['host', 'hostname', 'label', 'subdomain'],
  content: ['value', 'values', 'data', 'rdata', 'address', 'ip', 'text'],
  priority: ['prio', 'pri', 'preference', 'distance'],
};

/** Quotes nothing: it may be a file of another kind, such as a token. */
const kindOf = (node: YamlNode): string => {
  if (node.kind !== 'scalar') return `a ${node.kind}`;
  return node.text === null ? 'empty' : 'a text';
};

/** Null if it is not as its schema says. */
function valueIn<Schema>(node: YamlNode, key: string, schema: Schema, part: Part): ValueOf<Schema> | null;
function valueIn(node: YamlNode, key: string, schema: z.core.$ZodType, part: Part): unknown {
  const what = `\`${key}\``;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return valueIn(node, key, schema.unwrap(), part);
  if (schema === anyText) return scalarIn(node, key, what, schema, part);
  if (schema === oneOrMore)
    return spotsIn(node.kind === 'list' ? node.items : [node], key, what, anyText, part);
  if (schema instanceof z.ZodObject) return fieldsIn(node, what, schema, part);
  if (schema instanceof z.ZodRecord) return variablesIn(node, what, part);
  if (!(schema instanceof z.ZodArray)) return scalarIn(node, key, what, schema, part);
  if (node.kind !== 'list') {
    const isEmpty = node.kind === 'scalar' && node.text === null;
    const how = isEmpty ? 'write `[]`, or entries that begin with `-`' : 'begin each entry with `-`';
    part.report('wrong-type', node.at, `${what} is a list, not ${kindOf(node)}: ${how}`);
    return null;
  }
  const { element } = schema;
  const isOfMappings = element instanceof z.ZodObject;
  return isOfMappings ? node.items : spotsIn(node.items, key, `an entry of ${what}`, element, part);
}

const spotsIn = (
  nodes: readonly YamlNode[],
  key: string,
  what: string,
  schema: z.core.$ZodType,
  part: Part,
): readonly Spot<unknown>[] =>
  nodes.flatMap((node) => {
    const value = scalarIn(node, key, what, schema, part);
    return value === null ? [] : { value, at: node.at };
  });

const variablesIn = (node: YamlNode, what: string, part: Part): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  for (const { key, at, value } of mappingIn(node, what, part)?.entries ?? []) {
    const text = scalarIn(value, key, `the variable ${quote(key)}`, literal, part);
    if (!variableName.test(key)) part.report('wrong-type', at, `${namesOfVariables}, not ${quote(key)}`);
    else if (found.has(key)) part.report('duplicate-key', at, twice(key));
    else if (typeof text === 'string') found.set(key, text);
  }
  return found;
};

const namesOfVariables = "a variable's name is a letter or `_`, then those, digits, `.` and `-`";

/** A text that is left out is empty. */
const scalarIn = (
  node: YamlNode,
  key: string,
  what: string,
  schema: z.core.$ZodType,
  part: Part,
): unknown => {
  if (node.kind !== 'scalar') {
    const first = node.kind === 'mapping' ? `${node.entries[0]?.key}:` : '';
    const isAddress = /^[\da-f]*:[\da-f:]*::$/i.test(first);
    const message = isAddress ? endsInColon(first) : `${what} is a single value, not ${kindOf(node)}`;
    part.report('wrong-type', node.at, message);
    return null;
  }
  if (node.text === null && schema !== anyText) {
    part.report('wrong-type', node.at, `${what} is empty`);
    return null;
  }
  const written = node.text ?? '';
  const value = schema === literal ? written : interpolated(written, node.at, part);
  if (value === null || schema === literal || schema === anyText) return value;
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  const from = value === written ? '' : ` (from ${quote(written)})`;
  const message = `${what} is ${quote(value)}${from}: ${result.error.issues[0]!.message}`;
  part.report(checkOfKey[key] ?? 'wrong-type', node.at, message);
  return null;
};
