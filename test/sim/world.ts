import type { Random } from './random.ts';

/** Time and randomness of one round, and its trace. */
export interface World {
  readonly random: Random;
  /** True time in ms; nothing in the simulation can set it back. */
  readonly time: number;
  /** Lets time pass; due events happen in order. */
  advance(milliseconds: number): void;
  later(milliseconds: number, event: () => void): void;
  /** A line of the trace; computed only if it is read. */
  note(line: () => string): void;
  readonly trace: readonly string[];
}

export const createWorld = (random: Random, isTraced: boolean): World => {
  let time = 0;
  const trace: string[] = [];
  let coming: { at: number; event: () => void }[] = [];
  return {
    random,
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
