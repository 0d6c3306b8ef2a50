import { suggestion } from '../lib/nearest.ts';
import type { ParsedFile } from './parse-file.ts';
import { quote, type Diagnostic, type ReportProblem } from './problem.ts';

/** Variables by name. */
export type Scope = ReadonlyMap<string, string>;

/** One document of a template, its own or a fragment's: what its values are read with. */
export interface Part {
  /** The path of its file. */
  readonly file: string;
  readonly parsed: ParsedFile;
  /** Earlier ones win. None: a fragment alone, whose variables nobody knows. */
  readonly scopes: readonly Scope[];
  readonly ledger: Ledger;
  readonly report: ReportProblem;
}

/**
 * What the templates of a file have cost and what is wrong with them. They may cost so much, all together, in characters or
 * so: far more than anybody needs, far less than does harm.
 */
export class Ledger {
  /** The names of all variables that its values use, for who has to know whether one is used at all. */
  readonly usedVariables = new Set<string>();
  #characters = 200_000_000;
  #diagnostics: Diagnostic[] = [];

  /** False if less is left, which is reported at a place. */
  spend(characters: number, { report }: Pick<Part, 'report'>, at: number): boolean {
    this.#characters -= characters;
    if (this.#characters < 0) report('unreadable', at, tooMuch);
    return this.#characters >= 0;
  }

  /** A thousand in a file; instead of the next ones, that it is too much. */
  report(problem: Diagnostic): void {
    this.#characters -= 200_000;
    if (this.#characters >= 0) this.#diagnostics.push(problem);
    else if (this.#diagnostics.at(-1)?.message !== tooMuch)
      this.#diagnostics.push({ ...problem, check: 'unreadable', message: tooMuch });
  }

  /** Those since the last call. */
  takeDiagnostics(): Diagnostic[] {
    const taken = this.#diagnostics;
    this.#diagnostics = [];
    return taken;
  }
}

const tooMuch =
  'the templates of this file ask for too much, all together, or have too many problems: fix the first ones, or put some templates or records into other files';

/**
 * A text with `${name}` replaced by the variable's value; `$${` is a literal `${`. A value may use other variables. Null if
 * that cannot be done, which has been reported.
 */
export const interpolated = (text: string, at: number, part: Part): string | null => {
  const { scopes, ledger } = part;
  if (scopes.length === 0) return text.includes('$') ? null : text;
  let mistake = foreignIn(text, scopes);
  let left = maxLength;
  const expanded = (given: string, within: readonly string[]): string =>
    given.replace(/\$\$\{|\$\{([^{}]*)(\}?)/g, (_, name: string | undefined, end: string) => {
      if (name === undefined) return '${';
      if (mistake !== null) return '';
      ledger.usedVariables.add(name);
      const value = scopes.find((scope) => scope.has(name))?.get(name);
      // Each substitution counts as some characters: an empty value can be repeated for ever, too.
      left -= (value?.length ?? 0) + 1_000;
      if (end === '') mistake = endless;
      else if (within.includes(name)) mistake = `the variable ${quote(name)} refers to itself`;
      else if (value === undefined) mistake = notDefined(name, ledger.spend(0, part, at) ? scopes : []);
      else if (left < 0 || !ledger.spend(value.length + 100, part, at)) mistake = tooLong;
      else return expanded(value, [...within, name]);
      return '';
    });
  const found = mistake === null && text.includes('${') ? expanded(text, []) : text;
  if (mistake === null) return found;
  part.report('undefined-variable', at, mistake);
  return null;
};

/** A variable as other tools write it: sent as it is, it would become a record that nobody can delete. */
const foreignIn = (text: string, scopes: readonly Scope[]): string | null => {
  if (!text.includes('{{') && !text.startsWith('$')) return null;
  const [form, ...names] = /\{\{\s*([\w.-]+)\s*\}\}|^\$(\w+)$/.exec(text) ?? [];
  const name = names.find((one) => one !== undefined && scopes.some((scope) => scope.has(one)));
  return name === undefined ? null : `a variable is written \`\${${name}}\`, not ${quote(form!)}`;
};

/** Characters: without a limit, variables that use each other twice would grow exponentially. */
const maxLength = 1_000_000;

const tooLong = 'its variables expand to a text that is too long';

const endless = 'a variable starts with `${` and its `}` is missing; write `$${` for a literal `${`';

const notDefined = (name: string, scopes: readonly Scope[]): string => {
  const known = scopes.flatMap((scope) => [...scope.keys()].slice(0, 1_000));
  return `the variable ${quote(name)} is not defined${suggestion(name, known) || ': define it under `vars`'}`;
};
