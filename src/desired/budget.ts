import type { Diagnostic } from './problem.ts';

/**
 * What the templates of a file may cost, all together, in characters or so: far more than anybody needs, far less than does
 * harm.
 */
export class Budget {
  /** The names of all variables that its values use, for who has to know whether one is used at all. */
  readonly usedVariables = new Set<string>();
  #characters = 200_000_000;

  /** False if less is left. */
  spend(characters: number): boolean {
    this.#characters -= characters;
    return this.#characters >= 0;
  }

  /** Adds a problem to a list, a thousand in a file; instead of the next ones, that it is too much. */
  report<One extends Diagnostic>(list: One[], problem: One): void {
    if (this.spend(200_000)) list.push(problem);
    else if (list.at(-1)?.message !== tooMuch)
      list.push({ ...problem, check: 'unreadable', message: tooMuch });
  }
}

export const tooMuch =
  'the templates of this file ask for too much, all together, or have too many problems: fix the first ones, or put some templates or records into other files';
