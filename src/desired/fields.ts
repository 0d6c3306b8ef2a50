import { z } from 'zod';
import { nearest } from '../lib/nearest.ts';
import { interpolated, type Part } from './part.ts';
import { endsInColon, quote } from './problem.ts';
import { checkOfKey, literal, oneOrMore, text as anyText, variableName } from './schema.ts';
import type { MappingNode, YamlNode } from './yaml.ts';

/** What a mapping says, by known key. What is wrong is reported, and then not there. */
export interface Fields<Shape extends z.ZodRawShape> {
  /** Where the mapping stands. */
  readonly at: number;
  readonly node: (key: keyof Shape & string) => YamlNode | undefined;
  /** A single value; null if it is not there. */
  readonly value: <Key extends keyof Shape & string>(key: Key) => NonNullable<z.output<Shape[Key]>> | null;
  /** The values of a list, with their places. */
  readonly list: <Key extends keyof Shape & string>(
    key: Key,
  ) => readonly Spot<Extract<z.output<Shape[Key]>, readonly unknown[]>[number]>[];
  /** The elements of a list of mappings. */
  readonly nodes: (key: keyof Shape & string) => readonly YamlNode[];
}

export interface Spot<Value> {
  readonly value: Value;
  readonly at: number;
}

/**
 * The fields of a mapping: unknown and repeated keys are reported. The value of an unknown key counts for the key that was
 * evidently meant, so that this one is not reported as missing too. `known` has the keys that may be there.
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
      const other = meantBy(key, Object.keys(known));
      part.report('unknown-key', at, unknownKey(key, other, known, value));
      meant.set(other, value);
    } else if (nodes.has(key)) part.report('duplicate-key', at, twice(key));
    else nodes.set(key, value);
  for (const [key, value] of meant) if (key !== null && !nodes.has(key)) nodes.set(key, value);
  const elementsOf = (key: keyof Shape & string): readonly Spot<never>[] => {
    const given = nodes.get(key);
    if (given === undefined) return [];
    const schema = bare(shape[key]!);
    const isContent = schema === oneOrMore;
    const element = !isContent && schema instanceof z.ZodArray ? schema.element : anyText;
    const named = isContent ? `\`${key}\`` : `an entry of \`${key}\``;
    return (isContent && given.kind !== 'list' ? [given] : itemsIn(given, key, part)).flatMap((item) => {
      const value = scalarIn(item, key, named, element, part);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the schema says
      return value === null ? [] : { value: value as never, at: item.at };
    });
  };
  return {
    at: node.at,
    node: (key) => nodes.get(key),
    value: (key) => {
      const given = nodes.get(key);
      if (given === undefined) return null;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the schema says
      return scalarIn(given, key, `\`${key}\``, bare(shape[key]!), part) as never;
    },
    list: elementsOf,
    nodes: (key) => {
      const given = nodes.get(key);
      return given === undefined ? [] : itemsIn(given, key, part);
    },
  };
};

/** The schema of a value that is there. Kept, since `instanceof` is slow for schemas. */
const bare = (schema: z.core.$ZodType): z.core.$ZodType => {
  const known = bareSchemas.get(schema);
  if (known !== undefined) return known;
  const isMore = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  const found = isMore ? bare(schema.unwrap()) : schema;
  bareSchemas.set(schema, found);
  return found;
};

const bareSchemas = new Map<z.core.$ZodType, z.core.$ZodType>();

const mappingIn = (node: YamlNode, what: string, { report }: Part): MappingNode | null => {
  if (node.kind === 'mapping') return node;
  report('wrong-type', node.at, `${what} is a mapping (\`key: value\`), not ${kindOf(node)}`);
  return null;
};

const itemsIn = (node: YamlNode, key: string, { report }: Part): readonly YamlNode[] => {
  if (node.kind === 'list') return node.items;
  const isEmpty = node.kind === 'scalar' && node.text === null;
  const how = isEmpty ? 'write `[]`, or entries that begin with `-`' : 'begin each entry with `-`';
  report('wrong-type', node.at, `\`${key}\` is a list, not ${kindOf(node)}: ${how}`);
  return [];
};

/** Quotes nothing: it may be a file of another kind, such as a token. */
const kindOf = (node: YamlNode): string => {
  if (node.kind !== 'scalar') return `a ${node.kind}`;
  return node.text === null ? 'empty' : 'a text';
};

const twice = (key: string): string => `\`${key}\` is given twice: keep one`;

const unknownKey = (key: string, meant: string | null, known: object, value: YamlNode): string => {
  if (key === '<<')
    return 'merge keys are not supported; put shared entries into a fragment and `include` it';
  if (meant !== null) return `unknown key ${quote(key)}; did you mean \`${meant}\`?`;
  // Braces and brackets end a plain text at a comma.
  if (value.kind === 'scalar' && value.text === null)
    return `${quote(key)} is a key without a value; if it belongs to the text before the comma, quote the whole text`;
  return `unknown key ${quote(key)}; there are: ${Object.keys(known).join(', ')}`;
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

export const variablesIn = (node: YamlNode | undefined, part: Part): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  for (const { key, at, value } of (node && mappingIn(node, '`vars`', part)?.entries) ?? []) {
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
