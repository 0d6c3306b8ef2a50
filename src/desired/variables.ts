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
export const fillIn = (text: string, layers: Layers): Filled => {
  if (!text.includes('${')) return { text };
  const filling: Filling = { layers, within: [], substitutions: 0, length: 0, complaint: null };
  const filled = fill(text, filling);
  return filling.complaint === null ? { text: filled } : { complaint: filling.complaint };
};

interface Filling {
  readonly layers: Layers;
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
  if (variable !== undefined) return null;
  const known = filling.layers.flatMap((layer) => [...layer.keys()]);
  return `the variable ${quote(name)} is not defined${suggestion(name, known)}`;
};

const tooMuch = 'the variables in it make far too long a text';
