import { suggestion } from '../lib/nearest.ts';
import { tooMuch, type Budget } from './budget.ts';
import { quote } from './problem.ts';

/** Variables by name. */
export type Scope = ReadonlyMap<string, string>;

/**
 * Replaces `${name}` by the variable's value; `$${` is a literal `${`. A value may use other variables. Earlier scopes win.
 * Throws a `VariableError`.
 */
export const interpolate = (text: string, scopes: readonly Scope[], budget: Budget): string => {
  const foreign = text.includes('{{') || text.startsWith('$') ? foreignForm.exec(text) : null;
  const meant = foreign?.[1] ?? foreign?.[2];
  if (meant !== undefined && scopes.some((scope) => scope.has(meant)))
    throw new VariableError(`a variable is written \`\${${meant}}\`, not ${quote(foreign![0])}`);
  return text.includes('${') ? valueOf(text, [], { scopes, budget, left: maxLength }) : text;
};

export class VariableError extends Error {}

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
      const known = budget.hasMoreProblems
        ? []
        : scopes.flatMap((scope) => [...scope.keys()].slice(0, 1_000));
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
