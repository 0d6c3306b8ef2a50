import { diagnosticAt, type Diagnostic, type Position } from './diagnostic.ts';

/** What a file may ask for, all its templates together: far more than anybody writes, far less than hurts. */
const limits = {
  fragments: 10_000,
  records: 250_000,
  /** Records, rules and variables of fragments, right or wrong, once for each template that includes them. */
  entries: 500_000,
  /** Rules with `*`, each of which is held against each record. */
  patterns: 1_000,
  substitutions: 1_000_000,
  /** That variables stand for. */
  characters: 64 * 1024 * 1024,
  /** Of names of variables: there may be any number to compare a word with. */
  suggestions: 100,
  problems: 1_000,
};

/** The fragments that may stand in each other. */
export const maxDepth = 32;

/** What is left of what a file may ask for. */
export class Budget {
  readonly #left: Record<keyof typeof limits, number>;

  constructor(other: Partial<Record<keyof typeof limits, number>> = {}) {
    this.#left = { ...limits, ...other };
  }

  /** False where there is not so much left. */
  spend(what: keyof typeof limits, amount = 1): boolean {
    this.#left[what] -= amount;
    return this.#left[what] >= 0;
  }

  /** Whether that was asked for which there is not. */
  isSpent(what: keyof typeof limits): boolean {
    return this.#left[what] < 0;
  }

  /** Adds a problem to those of the file; instead of the first that is one too many, says that there are more. */
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
    `more than ${limits.problems} problems: mend the first ones, then look again`,
  );

export const tooManyFragments = `the templates of this file include more than ${limits.fragments} fragments, all together`;

/** Documents of a file; a template each. */
export const maxDocuments = 50_000;

export const tooManyEntries = `the templates of this file include more than ${limits.entries} records, rules and variables, all together`;

export const tooManyPatterns = `the templates of this file ignore by more than ${limits.patterns} patterns with \`*\`, all together`;

export const tooManyRecords = `the templates of this file hold more than ${limits.records} records, all together`;
