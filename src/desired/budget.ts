import type { Diagnostic } from './problem.ts';

/** What is left of what the templates of a file may cost, all together: far more than anybody needs, far less than does harm. */
export class Budget {
  /** The names of all variables that its values use, for who has to know whether one is used at all. */
  readonly usedVariables = new Set<string>();
  #steps = 2_000_000;
  #problems: number;

  constructor({ problems = maxProblems } = {}) {
    this.#problems = problems;
  }

  /** False if less is left. A step is a microsecond or a hundred octets, or so. */
  spend(steps: number): boolean {
    this.#steps -= steps;
    return this.#steps >= 0;
  }

  /** Adds a problem to a list. Instead of the first one above the limit, `notes` gets one that there are more. */
  report<One extends Diagnostic>(list: One[], problem: One, notes: One[] = list): void {
    this.#problems -= 1;
    if (this.#problems >= 0) list.push(problem);
    else if (this.#problems === -1) notes.push({ ...problem, check: 'unreadable', message: tooManyProblems });
  }

  /** Some problems were left out, which may belong to anything in the file. */
  get hasMoreProblems(): boolean {
    return this.#problems < 0;
  }
}

const maxProblems = 1_000;

const tooManyProblems = `more than ${maxProblems} problems: fix the first ones, then check again`;

/** Costs in steps, one each. */
export const steps = {
  document: 40,
  fragment: 200,
  /** A record, rule or variable of a fragment, valid or not, counted for each template that includes it. */
  entry: 4,
  record: 8,
};

export const tooMuch =
  'the templates of this file ask for too much, all together: put some of them, or of their records, into other files';
