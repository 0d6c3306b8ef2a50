import type { Budget } from './budget.ts';
import { quote } from './diagnostic.ts';
import { suggestion } from '../lib/nearest.ts';

/** Variables by name; earlier scopes win. */
export type Scopes = readonly ReadonlyMap<string, Variable>[];

export interface Variable {
  readonly text: string;
}

export type Interpolated = { readonly text: string } | { readonly problem: string };

/** More than any value needs. Without a limit, variables that use each other twice would grow exponentially. */
const maxSubstitutions = 1_000;
const maxLength = 1_000_000;

/** Replaces `${name}` by the variable's value; `$${` is a literal `${`. A value may use other variables. */
export const interpolate = (text: string, scopes: Scopes, budget: Budget): Interpolated => {
  const foreign = text.includes('{{') || text.startsWith('$') ? foreignForm.exec(text) : null;
  const meant = foreign?.[1] ?? foreign?.[2];
  if (meant !== undefined && scopes.some((scope) => scope.has(meant)))
    return { problem: `a variable is written \`\${${meant}}\`, not ${quote(foreign![0])}` };
  if (!text.includes('${')) return { text };
  if (budget.isSpent('characters') || budget.isSpent('substitutions')) return { problem: tooMuchInFile };
  const state: Interpolation = { scopes, budget, within: [], substitutions: 0, length: 0, problem: null };
  const interpolated = interpolateIn(text, state);
  return state.problem === null ? { text: interpolated } : { problem: state.problem };
};

/** A variable as other tools write it: sent as it is, it would become a record that nobody can delete. */
const foreignForm = /\{\{\s*([\w.-]+)\s*\}\}|^\$(\w+)$/;

interface Interpolation {
  readonly scopes: Scopes;
  readonly budget: Budget;
  /** The variables whose values are being interpolated. */
  readonly within: string[];
  substitutions: number;
  length: number;
  problem: string | null;
}

const interpolateIn = (text: string, state: Interpolation): string =>
  text.replace(/\$\$\{|\$\{([^{}]*)(\}?)/g, (whole, name: string | undefined, end: string) => {
    if (state.problem !== null) return '';
    if (name === undefined) return '${';
    const { within } = state;
    const variable = state.scopes.find((scope) => scope.has(name))?.get(name);
    state.substitutions += 1;
    state.length += variable?.text.length ?? 0;
    state.problem = problemWith({ name, isEnded: end !== '', variable, state });
    if (variable === undefined || state.problem !== null) return whole;
    within.push(name);
    const value = interpolateIn(variable.text, state);
    within.pop();
    return value;
  });

const problemWith = ({
  name,
  isEnded,
  variable,
  state,
}: {
  readonly name: string;
  readonly isEnded: boolean;
  readonly variable: Variable | undefined;
  readonly state: Interpolation;
}): string | null => {
  if (!isEnded) return 'a variable starts with `${` and its `}` is missing; write `$${` for a literal `${`';
  if (state.within.includes(name)) return `the variable ${quote(name)} refers to itself`;
  if (state.substitutions > maxSubstitutions || state.length > maxLength) return tooMuch;
  const { budget } = state;
  budget.usedVariables.add(name);
  const isWithinBudget =
    budget.spend('substitutions') && budget.spend('characters', variable?.text.length ?? 0);
  if (!isWithinBudget) return tooMuchInFile;
  if (variable !== undefined) return null;
  const meant = budget.spend('suggestions') ? suggestion(name, namesIn(state.scopes)) : '';
  return `the variable ${quote(name)} is not defined${meant || ': define it under `vars`'}`;
};

/** The known names, up to a limit. */
const namesIn = (scopes: Scopes): string[] => {
  const names: string[] = [];
  for (const scope of scopes) {
    for (const name of scope.keys()) {
      if (names.length >= maxNames) return names;
      names.push(name);
    }
  }
  return names;
};

const maxNames = 1_000;

const tooMuchInFile = 'the variables of this file expand to a text that is too long';

const tooMuch = 'its variables expand to a text that is too long';
