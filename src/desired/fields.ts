import { z } from 'zod';
import { nearest, suggestion } from '../lib/nearest.ts';
import { tooMuch, type Budget } from './budget.ts';
import type { CheckId } from './check-id.ts';
import { endsInColon, quote, type Report } from './problem.ts';
import type { ParsedFile } from './parse-file.ts';
import type { MappingNode, ScalarNode, YamlNode } from './yaml.ts';

/** Variables by name. */
export type Scope = ReadonlyMap<string, string>;

/** One file of a template, its own or a fragment, and how its values are read. */
export interface Part {
  /** Its path. */
  readonly file: string;
  readonly parsed: ParsedFile;
  /** Earlier ones win. None: a fragment alone, whose variables nobody knows. */
  readonly scopes: readonly Scope[];
  readonly budget: Budget;
  readonly report: Report;
}

/** A scalar that has a text. */
export type TextNode = ScalarNode & { readonly text: string };

type KeyOf<Schema extends z.ZodObject> = keyof Schema['shape'] & string;
type ValueOf<Schema extends z.core.$ZodType> = NonNullable<z.output<Schema>>;

/**
 * The values of a mapping by known key: unknown and repeated keys are reported. The value of an unknown key counts for the
 * key that was evidently meant, so that this one is not reported as missing too. A value that is invalid is reported, and
 * null as one that is not there.
 */
export class Fields<Schema extends z.ZodObject> {
  readonly at: number;
  readonly #nodes = new Map<string, YamlNode>();
  readonly #schema: Schema;
  readonly #part: Part;

  /** `known` has the keys that may be there, if those are not all. */
  constructor({ at, entries }: MappingNode, schema: Schema, part: Part, known: object = schema.shape) {
    this.at = at;
    this.#schema = schema;
    this.#part = part;
    const meant = new Map<string | null, YamlNode>();
    for (const { key, at: place, value } of entries) {
      if (!Object.hasOwn(known, key)) {
        const names = Object.keys(known);
        part.report('unknown-key', place, unknownKey(key, names, value));
        meant.set(meantBy(key, names), value);
      } else if (this.#nodes.has(key))
        part.report('duplicate-key', place, `\`${key}\` is given twice: keep one`);
      else this.#nodes.set(key, value);
    }
    for (const [key, value] of meant) if (key !== null && !this.#nodes.has(key)) this.#nodes.set(key, value);
  }

  get keys(): readonly string[] {
    return [...this.#nodes.keys()];
  }

  node(key: KeyOf<Schema>): YamlNode | undefined {
    return this.#nodes.get(key);
  }

  /** Where the value stands; null: it is not there. */
  place(key: KeyOf<Schema>): number | null {
    return this.#nodes.get(key)?.at ?? null;
  }

  text(key: KeyOf<Schema>): string | null {
    const node = this.#nodes.get(key);
    return node === undefined ? null : textIn(node, `\`${key}\``, this.#part);
  }

  /** A value that its schema accepts. */
  value<Key extends KeyOf<Schema>>(key: Key, check?: CheckId): ValueOf<Schema['shape'][Key]> | null {
    const node = this.#nodes.get(key);
    if (node === undefined) return null;
    return valueIn(node, `\`${key}\``, this.#schema.shape[key], this.#part, check);
  }

  items(key: KeyOf<Schema>): readonly YamlNode[] {
    const node = this.#nodes.get(key);
    if (node === undefined) return [];
    if (node.kind === 'list') return node.items;
    const isEmpty = node.kind === 'scalar' && node.text === null;
    const how = isEmpty ? 'write `[]`, or entries that begin with `-`' : 'begin each entry with `-`';
    this.#part.report('wrong-type', node.at, `\`${key}\` is a list, not ${kindOf(node)}: ${how}`);
    return [];
  }

  scalars(key: KeyOf<Schema>): TextNode[] {
    return this.items(key).flatMap((item) => scalarIn(item, `an entry of \`${key}\``, this.#part) ?? []);
  }

  texts(key: KeyOf<Schema>): TextNode[] {
    return this.scalars(key).flatMap((node) => {
      const text = interpolated(node, this.#part);
      return text === null ? [] : { ...node, text };
    });
  }

  mapping(key: KeyOf<Schema>): MappingNode | null {
    const node = this.#nodes.get(key);
    return node === undefined ? null : mappingIn(node, `\`${key}\``, this.#part);
  }
}

const unknownKey = (key: string, known: readonly string[], value: YamlNode): string => {
  if (key === '<<')
    return 'merge keys are not supported; put shared entries into a fragment and `include` it';
  // Braces and brackets end a plain text at a comma.
  if (value.kind === 'scalar' && value.text === null && nearest(key, known) === null)
    return `${quote(key)} is a key without a value; if it belongs to the text before the comma, quote the whole text`;
  // In which other tools keep remarks on a record.
  if (known.includes('content') && /^(?:comments?|notes?|description)$/i.test(key))
    return `unknown key ${quote(key)}; a remark is a comment of the file: a blank, \`#\` and the text`;
  const meant = meantBy(key, known);
  return `unknown key ${quote(key)}${meant === null ? `; there are: ${known.join(', ')}` : `; did you mean \`${meant}\`?`}`;
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

export const mappingIn = (
  node: YamlNode,
  what: string,
  { report }: Pick<Part, 'report'>,
  example = 'key: value',
): MappingNode | null => {
  if (node.kind === 'mapping') return node;
  report('wrong-type', node.at, `${what} is a mapping (\`${example}\`), not ${kindOf(node)}`);
  return null;
};

/** A scalar that must be there. */
export const scalarIn = (node: YamlNode, what: string, { report }: Part): TextNode | null => {
  if (isText(node)) return node;
  const key = node.kind === 'mapping' ? `${node.entries[0]?.key}:` : '';
  const isAddress = /^[\da-f]*:[\da-f:]*::$/i.test(key);
  const message =
    node.kind === 'scalar' ? `${what} is empty` : `${what} is a single value, not ${kindOf(node)}`;
  report('wrong-type', node.at, isAddress ? endsInColon(key) : message);
  return null;
};

const isText = (node: YamlNode): node is TextNode => node.kind === 'scalar' && node.text !== null;

/** With variables interpolated. */
export const textIn = (node: YamlNode, what: string, part: Part): string | null => {
  const scalar = scalarIn(node, what, part);
  return scalar === null ? null : interpolated(scalar, part);
};

export const valueIn = <Schema extends z.core.$ZodType>(
  node: YamlNode,
  what: string,
  schema: Schema,
  part: Part,
  check: CheckId = 'wrong-type',
): ValueOf<Schema> | null => {
  const scalar = scalarIn(node, what, part);
  const text = scalar === null ? null : interpolated(scalar, part);
  if (scalar === null || text === null) return null;
  const result = z.safeParse(schema, text);
  if (result.success) return result.data ?? null;
  const [issue] = result.error.issues;
  const source = text === scalar.text ? '' : ` (from ${quote(scalar.text)})`;
  const meant = issue!.code === 'invalid_value' ? suggestion(text, issue.values.map(String)) : '';
  part.report(check, scalar.at, `${what}: ${issue!.message}, not ${quote(text)}${source}${meant}`);
  return null;
};

const interpolated = ({ text, at }: TextNode, { scopes, budget, report }: Part): string | null => {
  if (scopes.length === 0) return text.includes('$') ? null : text;
  try {
    return interpolate(text, scopes, budget);
  } catch (error) {
    if (!(error instanceof VariableError)) throw error;
    report('undefined-variable', at, error.message);
    return null;
  }
};

/**
 * Replaces `${name}` by the variable's value; `$${` is a literal `${`. A value may use other variables. Earlier scopes win.
 * Throws a `VariableError`.
 */
const interpolate = (text: string, scopes: readonly Scope[], budget: Budget): string => {
  const foreign = text.includes('{{') || text.startsWith('$') ? foreignForm.exec(text) : null;
  const meant = foreign?.[1] ?? foreign?.[2];
  if (meant !== undefined && scopes.some((scope) => scope.has(meant)))
    throw new VariableError(`a variable is written \`\${${meant}}\`, not ${quote(foreign![0])}`);
  return text.includes('${') ? valueOf(text, [], { scopes, budget, left: maxLength }) : text;
};

class VariableError extends Error {}

/** A variable as other tools write it: sent as it is, it would become a record that nobody can delete. */
const foreignForm = /\{\{\s*([\w.-]+)\s*\}\}|^\$(\w+)$/;

/** Characters: without a limit, variables that use each other twice would grow exponentially. */
const maxLength = 1_000_000;
const maxDepth = 32;

interface Interpolation {
  readonly scopes: readonly Scope[];
  readonly budget: Budget;
  left: number;
}

/** `within`: the variables whose values are being interpolated. */
const valueOf = (text: string, within: readonly string[], state: Interpolation): string =>
  text.replace(/\$\$\{|\$\{([^{}]*)(\}?)/g, (_, name: string | undefined, end: string) => {
    const { scopes, budget } = state;
    if (name === undefined) return '${';
    if (end === '') throw new VariableError(endless);
    if (within.includes(name)) throw new VariableError(`the variable ${quote(name)} refers to itself`);
    budget.usedVariables.add(name);
    const value = scopes.find((scope) => scope.has(name))?.get(name);
    if (value === undefined) {
      const known = budget.spend(0) ? scopes.flatMap((scope) => [...scope.keys()].slice(0, 1_000)) : [];
      const advice = suggestion(name, known) || ': define it under `vars`';
      throw new VariableError(`the variable ${quote(name)} is not defined${advice}`);
    }
    // Each substitution counts as some characters: an empty value can be repeated for ever, too.
    state.left -= value.length + 1_000;
    if (state.left < 0 || within.length >= maxDepth)
      throw new VariableError('its variables expand to a text that is too long');
    if (!budget.spend(value.length + 100)) throw new VariableError(tooMuch);
    return valueOf(value, [...within, name], state);
  });

const endless = 'a variable starts with `${` and its `}` is missing; write `$${` for a literal `${`';

const kindOf = (node: YamlNode): string => {
  if (node.kind !== 'scalar') return `a ${node.kind}`;
  return node.text === null ? 'empty' : quote(node.text);
};
