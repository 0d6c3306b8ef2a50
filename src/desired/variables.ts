import type { Budget } from './budget.ts';
import { quote } from './fault.ts';
import { suggestion } from './nearest.ts';

/** Variables by name, the layer that wins first. */
export type Layers = readonly ReadonlyMap<string, Variable>[];

export interface Variable {
  readonly text: string;
}

export type Filled = { readonly text: string } | { readonly complaint: string };

/** More than any value needs; variables that name each other twice each would grow without end. */
const maxSubstitutions = 1_000;
const maxLength = 1_000_000;

/** Puts the variables into `${name}`; `$${` is a literal `${`. A variable may itself hold variables. */
export const fillIn = (text: string, layers: Layers, budget: Budget): Filled => {
  if (!text.includes('${')) return { text };
  if (budget.isSpent('characters') || budget.isSpent('substitutions')) return { complaint: tooMuchInFile };
  const filling: Filling = { layers, budget, within: [], substitutions: 0, length: 0, complaint: null };
  const filled = fill(text, filling);
  return filling.complaint === null ? { text: filled } : { complaint: filling.complaint };
};

interface Filling {
  readonly layers: Layers;
  readonly budget: Budget;
  /** The variables whose value is being filled in just now. */
  readonly within: string[];
  substitutions: number;
  length: number;
  complaint: string | null;
}

const fill = (text: string, filling: Filling): string =>
  text.replace(/\$\$\{|\$\{([^{}]*)(\}?)/g, (whole, name: string | undefined, end: string) => {
    if (filling.complaint !== null) return '';
    if (name === undefined) return '${';
    const { within } = filling;
    const variable = filling.layers.find((layer) => layer.has(name))?.get(name);
    filling.substitutions += 1;
    filling.length += variable?.text.length ?? 0;
    filling.complaint = complaintAbout({ name, isEnded: end !== '', variable, filling });
    if (variable === undefined || filling.complaint !== null) return whole;
    within.push(name);
    const value = fill(variable.text, filling);
    within.pop();
    return value;
  });

const complaintAbout = ({
  name,
  isEnded,
  variable,
  filling,
}: {
  readonly name: string;
  readonly isEnded: boolean;
  readonly variable: Variable | undefined;
  readonly filling: Filling;
}): string | null => {
  if (!isEnded) return 'a `${` begins a variable, and its `}` is missing; a literal `${` is written `$${`';
  if (filling.within.includes(name)) return `the variable ${quote(name)} holds itself`;
  if (filling.substitutions > maxSubstitutions || filling.length > maxLength) return tooMuch;
  const { budget } = filling;
  const isWithinBudget =
    budget.take('substitutions') && budget.take('characters', variable?.text.length ?? 0);
  if (!isWithinBudget) return tooMuchInFile;
  if (variable !== undefined) return null;
  const meant = budget.take('suggestions') ? suggestion(name, namesIn(filling.layers)) : '';
  return `the variable ${quote(name)} is not defined${meant}`;
};

/** As many as a word may be compared with. */
const namesIn = (layers: Layers): string[] => {
  const names: string[] = [];
  for (const layer of layers) {
    for (const name of layer.keys()) {
      if (names.length >= maxNames) return names;
      names.push(name);
    }
  }
  return names;
};

const maxNames = 1_000;

const tooMuchInFile = 'the variables of this file make far too long a text';

const tooMuch = 'the variables in it make far too long a text';
