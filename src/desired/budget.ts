import type { Diagnostic } from './problem.ts';

/**
 * What the templates of a file may cost, all together, in characters or so: far more than anybody needs, far less than does
 * harm.
 */
export class Budget {
  /** The names of all variables that its values use, for who has to know whether one is used at all. */
  readonly usedVariables = new Set<string>();
  #characters = 200_000_000;
  #problems = 0;

  /** False if less is left. */
  spend(characters: number): boolean {
    this.#characters -= characters;
    return this.#characters >= 0;
  }

  /** Adds a problem to a list; instead of the first one above the limit, that there are more. */
  report<One extends Diagnostic>(list: One[], problem: One): void {
    this.#problems += 1;
    if (this.#problems <= maxProblems) list.push(problem);
    else if (this.#problems === maxProblems + 1)
      list.push({ ...problem, check: 'unreadable', message: tooManyProblems });
  }

  /** Some problems were left out, which may belong to any template of the file. */
  get hasMoreProblems(): boolean {
    return this.#problems > maxProblems;
  }
}

const maxProblems = 1_000;

const tooManyProblems = `more than ${maxProblems} problems: fix the first ones, then check again`;

export const tooMuch =
  'the templates of this file ask for too much, all together: put some of them, or of their records, into other files';
