import type { z } from 'zod';
import type { Budget } from './budget.ts';
import type { CheckId } from './check-id.ts';
import { quote, type ReportDiagnostic } from './diagnostic.ts';
import { scalarIn } from './fields.ts';
import { suggestionOr } from '../lib/nearest.ts';
import { interpolate, type Scopes } from './variables.ts';
import type { ScalarNode, YamlNode } from './yaml/tree.ts';

/** The context for reading values: variables, limits, and where diagnostics go. */
export interface Reader {
  readonly scopes: Scopes;
  readonly budget: Budget;
  readonly report: ReportDiagnostic;
}

/** The text of a value with variables interpolated; null if that failed, which has been reported. */
export const textIn = (node: YamlNode | undefined, what: string, reader: Reader): string | null => {
  if (node === undefined) return null;
  const scalar = scalarIn(node, what, reader.report);
  return scalar === null ? null : interpolatedText(scalar, reader);
};

/** A value that its schema accepts; null if there is none, or if it is invalid, which has been reported. */
export const valueIn = <Schema extends z.ZodType>(
  node: YamlNode | undefined,
  what: string,
  schema: Schema,
  reader: Reader,
  check: CheckId = 'wrong-type',
): z.output<Schema> | null => {
  if (node === undefined) return null;
  const { report } = reader;
  const scalar = scalarIn(node, what, report);
  const text = scalar === null ? null : interpolatedText(scalar, reader);
  if (scalar === null || text === null) return null;
  const result = schema.safeParse(text === scalar.text ? scalar.value : text);
  if (result.success) return result.data;
  const source = text === scalar.text ? '' : ` (from ${quote(scalar.text)})`;
  report(check, scalar, `${what}: ${result.error.issues[0]!.message}, not ${quote(text)}${source}`);
  return null;
};

/** One of some fixed words. */
export const choiceIn = <Word extends string>(
  node: YamlNode | undefined,
  what: string,
  words: readonly Word[],
  report: ReportDiagnostic,
): Word | null => {
  const scalar = node === undefined ? null : scalarIn(node, what, report);
  if (scalar === null) return null;
  const word = words.find((known) => known === scalar.text);
  if (word !== undefined) return word;
  report('wrong-type', scalar, `${what} cannot be ${quote(scalar.text)}${suggestionOr(scalar.text, words)}`);
  return null;
};

const interpolatedText = (scalar: ScalarNode, { scopes, budget, report }: Reader): string | null => {
  const interpolated = interpolate(scalar.text, scopes, budget);
  if ('text' in interpolated) return interpolated.text;
  report('undefined-variable', scalar, interpolated.problem);
  return null;
};
