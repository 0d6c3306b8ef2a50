import type { Driver } from './world.ts';

/** What did not go well, in words: which choice, and what was chosen. */
export type Schedule = readonly (readonly [what: string, chosen: string])[];

/** Decides by a schedule; what it does not name goes well. */
export interface Director extends Driver {
  /** Choices are named by it. */
  passNumber: number;
  /** From here on everything goes well. */
  isFair: boolean;
  /** What went wrong until now, and how. */
  readonly faults: string[];
  /** A choice that is no fault; there only after a fault. */
  pick<const Option extends string>(what: string, options: readonly Option[]): Option;
  /** Whether the same state was left by another schedule, with as many faults to come. */
  isSeen(state: () => string): boolean;
}

interface Point {
  readonly what: string;
  readonly others: readonly string[];
  readonly isFault: boolean;
}

/** `seen`: by a digest of the state. Collects what else could have been chosen after the last choice of the schedule. */
export const directorOf = (
  schedule: Schedule,
  seen: Set<string> = new Set(),
): {
  readonly director: Director;
  readonly points: readonly Point[];
  /** Choices of the schedule that never came up. */
  readonly left: ReadonlyMap<string, string>;
} => {
  const given = new Map(schedule);
  const times = new Map<string, number>();
  const points: Point[] = [];
  const decide = (what: string, labels: readonly string[], isFault: boolean): number => {
    const name = `pass ${director.passNumber}: ${what}`;
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    const full = time === 1 ? name : `${name} (${time})`;
    const chosen = given.get(full);
    if (chosen !== undefined) {
      given.delete(full);
      const index = labels.indexOf(chosen);
      if (index < 0) throw new Error(`${full} cannot be ${chosen}, but ${labels.slice(1).join('; ')}`);
      if (isFault) director.faults.push(`${what} ${chosen}`);
      return index;
    }
    const others = [...new Set(labels.slice(1))];
    if (given.size === 0 && others.length > 0) points.push({ what: full, others, isFault });
    return 0;
  };
  const director: Director = {
    passNumber: 0,
    isFair: false,
    faults: [],
    choose: (what, options, probability) => {
      if (probability === 0 || director.isFair || options.length < 2) return options[0]!;
      const text = what();
      // Nothing happens between two calls.
      if (text.startsWith('the process dies before')) return options[0]!;
      return options[decide(text, options.map(String), true)]!;
    },
    amount: (what, most) => {
      if (director.isFair || most === 0) return 0;
      const text = what();
      if (!text.startsWith('the late')) return [0, most][decide(text, ['no', 'yes'], true)]!;
      const moments = ['last', 'between two readings', 'after two readings'];
      return [most, Math.min(most, 15_000), Math.min(most, 35_000)][decide(text, moments, false)]!;
    },
    pick: (what, options) =>
      schedule.length === given.size ? options[0]! : options[decide(what, options, false)]!,
    isSeen: (state) => {
      if (given.size > 0) return false;
      const text = state();
      if (seen.has(text)) return true;
      seen.add(text);
      return false;
    },
  };
  return { director, points, left: given };
};

export interface Explored {
  schedules: number;
  readonly states: number;
  /** The first of each kind, which has the fewest faults. */
  readonly breaches: readonly Breach[];
}

export interface Breach {
  /** The law that is broken, without the records. */
  readonly kind: string;
  readonly faults: number;
  readonly schedule: Schedule;
  readonly what: readonly string[];
}

const kindOf = (what: readonly string[]): string =>
  what[0]!
    .split(' ')
    .filter((word) => /^[a-z,]+$/.test(word))
    .join(' ');

/**
 * Every schedule with at most so many faults, those with the fewest first; what breaks a law is not continued, and after
 * `enough` kinds of breaches none is.
 */
export const explore = async (
  play: (director: Director) => Promise<readonly string[]>,
  most: number,
  enough = Infinity,
): Promise<Explored> => {
  const seen = new Set<string>();
  const levels: Schedule[][] = [[[]]];
  const breaches = new Map<string, Breach>();
  let schedules = 0;
  for (let faults = 0; faults <= most; faults += 1) {
    const level = (levels[faults] ??= []);
    for (let schedule = level.pop(); schedule && breaches.size < enough; schedule = level.pop()) {
      const { director, points } = directorOf(schedule, seen);
      const what = await play(director);
      schedules += 1;
      if (what.length > 0) {
        const kind = kindOf(what);
        if (!breaches.has(kind)) breaches.set(kind, { kind, faults, schedule, what });
        continue;
      }
      for (const { what: name, others, isFault } of points) {
        const next = faults + (isFault ? 1 : 0);
        if (next > most) continue;
        const children = others.map((other): Schedule => [...schedule, [name, other]]);
        (levels[next] ??= []).push(...children);
      }
    }
  }
  return { schedules, states: seen.size, breaches: [...breaches.values()] };
};
