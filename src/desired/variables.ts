import { suggestion } from '../lib/nearest.ts';
import { tooMuch, type Budget } from './budget.ts';
import { quote } from './problem.ts';

/** Variables by name. */
export type Scope = ReadonlyMap<string, string>;

/** Replaces `${name}` by the variable's value; `$${` is a literal `${`. A value may use other variables. Earlier scopes win. */
export const interpolate = (
  text: string,
  scopes: readonly Scope[],
  budget: Budget,
): string | { readonly problem: string } => {
  const foreign = text.includes('{{') || text.startsWith('$') ? foreignForm.exec(text) : null;
  const meant = foreign?.[1] ?? foreign?.[2];
  if (meant !== undefined && scopes.some((scope) => scope.has(meant)))
    return { problem: `a variable is written \`\${${meant}}\`, not ${quote(foreign![0])}` };
  if (!text.includes('${')) return text;
  const state: Interpolation = { scopes, budget, within: [], left: maxLength, problem: null };
  const value = valueOf(text, state);
  return state.problem === null ? value : { problem: state.problem };
};

/** A variable as other tools write it: sent as it is, it would become a record that nobody can delete. */
const foreignForm = /\{\{\s*([\w.-]+)\s*\}\}|^\$(\w+)$/;

/** Characters: without a limit, variables that use each other twice would grow exponentially. */
const maxLength = 1_000_000;
const maxDepth = 32;

interface Interpolation {
  readonly scopes: readonly Scope[];
  readonly budget: Budget;
  /** The variables whose values are being interpolated. */
  readonly within: string[];
  left: number;
  problem: string | null;
}

const valueOf = (text: string, state: Interpolation): string =>
  text.replace(/\$\$\{|\$\{([^{}]*)(\}?)/g, (whole, name: string | undefined, end: string) => {
    if (state.problem !== null) return '';
    if (name === undefined) return '${';
    const value = end === '' ? undefined : state.scopes.find((scope) => scope.has(name))?.get(name);
    state.problem = problemWith(name, end !== '', value, state);
    if (value === undefined || state.problem !== null) return whole;
    state.within.push(name);
    const interpolated = valueOf(value, state);
    state.within.pop();
    return interpolated;
  });

const problemWith = (
  name: string,
  isEnded: boolean,
  value: string | undefined,
  state: Interpolation,
): string | null => {
  const { within, budget, scopes } = state;
  if (!isEnded) return 'a variable starts with `${` and its `}` is missing; write `$${` for a literal `${`';
  if (within.includes(name)) return `the variable ${quote(name)} refers to itself`;
  budget.usedVariables.add(name);
  if (value === undefined) {
    const meant = budget.hasMoreProblems ? '' : suggestion(name, namesIn(scopes));
    return `the variable ${quote(name)} is not defined${meant || ': define it under `vars`'}`;
  }
  // Each substitution counts as some characters: an empty value can be repeated for ever, too.
  state.left -= value.length + 1_000;
  if (state.left < 0 || within.length >= maxDepth) return 'its variables expand to a text that is too long';
  return budget.spend(1 + value.length / 100) ? null : tooMuch;
};

/** The known names, up to a limit. */
const namesIn = (scopes: readonly Scope[]): string[] => {
  const names: string[] = [];
  for (const scope of scopes) for (const name of scope.keys()) if (names.push(name) >= 1_000) return names;
  return names;
};
