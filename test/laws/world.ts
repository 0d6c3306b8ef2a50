import type { Random } from './random.ts';

/** Time and randomness of one round, and its trace. */
export interface World {
  readonly random: Random;
  /**
   * What happens: the first is nothing bad. Drawn with a probability from 0 to 1, of which 0 leaves no choice; or
   * given, in `explore.ts`.
   */
  choose<const Option>(what: () => string, options: readonly Option[], probability: number): Option;
  /** From 0 to `most`: drawn, or given. */
  amount(what: () => string, most: number): number;
  /** True time in ms; nothing in the simulation can set it back. */
  readonly time: number;
  /** Lets time pass; due events happen in order. */
  advance(milliseconds: number): void;
  later(milliseconds: number, event: () => void): void;
  /** A line of the trace; computed only if it is read. */
  note(line: () => string): void;
  readonly trace: readonly string[];
}

/** What decides, unless it is chance. */
export type Driver = Pick<World, 'choose' | 'amount'>;

export const createWorld = (random: Random, isTraced: boolean, driver: Driver = drawing(random)): World => {
  let time = 0;
  const trace: string[] = [];
  let coming: { at: number; event: () => void }[] = [];
  return {
    random,
    ...driver,
    get time() {
      return time;
    },
    advance: (milliseconds) => {
      const end = time + milliseconds;
      for (;;) {
        const due = coming.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        coming = coming.filter((one) => one !== due);
        time = Math.max(time, due.at);
        due.event();
      }
      time = end;
    },
    later: (milliseconds, event) => {
      coming.push({ at: time + milliseconds, event });
    },
    note: (line) => {
      if (isTraced) trace.push(`${(time / 1_000).toFixed(3).padStart(12)}  ${line()}`);
    },
    trace,
  };
};

export const drawing = (random: Random): Driver => ({
  choose: (_what, options, probability) =>
    random.chance(probability) ? random.pick(options.slice(1)) : options[0]!,
  amount: (_what, most) => random.next() * most,
});
