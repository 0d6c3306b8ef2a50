import { diagnosticAt, type Diagnostic, type Position } from './diagnostic.ts';

/** Limits for one file, all its templates together: far more than anybody writes, far less than does harm. */
const limits = {
  fragments: 10_000,
  records: 250_000,
  /** Records, rules and variables of fragments, valid or not, counted once for each template that includes them. */
  entries: 500_000,
  /** Rules with `*`. Each of them is compared with each record. */
  patterns: 1_000,
  substitutions: 1_000_000,
  /** Of the values of variables. */
  characters: 64 * 1024 * 1024,
  /** Suggestions of a variable's name, which are compared with all known names. */
  suggestions: 100,
  problems: 1_000,
};

/** The nesting depth of fragments. */
export const maxDepth = 32;

/** What is left of the limits of a file. */
export class Budget {
  /** The names of all variables that its values use, for who has to know whether one is used at all. */
  readonly usedVariables = new Set<string>();
  readonly #left: Record<keyof typeof limits, number>;

  constructor(other: Partial<Record<keyof typeof limits, number>> = {}) {
    this.#left = { ...limits, ...other };
  }

  /** False if less is left. */
  spend(what: keyof typeof limits, amount = 1): boolean {
    this.#left[what] -= amount;
    return this.#left[what] >= 0;
  }

  /** Whether more was asked for than the limit. */
  isSpent(what: keyof typeof limits): boolean {
    return this.#left[what] < 0;
  }

  /** Adds a diagnostic to the file's. The first one above the limit becomes a note that there are more. */
  report<T extends Diagnostic>(problems: T[], problem: T): void {
    const wasSpent = this.isSpent('problems');
    if (this.spend('problems')) problems.push(problem);
    else if (!wasSpent) problems.push({ ...problem, ...tooManyProblems(problem) });
  }
}

export const tooManyProblems = (at: Position): Diagnostic =>
  diagnosticAt(
    'unreadable',
    at,
    `more than ${limits.problems} problems: fix the first ones, then check again`,
  );

export const tooManyFragments = `the templates of this file include more than ${limits.fragments} fragments, all together`;

/** Documents of a file, each of which is a template. */
export const maxDocuments = 50_000;

export const tooManyEntries = `the templates of this file include more than ${limits.entries} records, rules and variables, all together`;

export const tooManyPatterns = `the templates of this file ignore by more than ${limits.patterns} patterns with \`*\`, all together`;

export const tooManyRecords = `the templates of this file hold more than ${limits.records} records, all together`;
