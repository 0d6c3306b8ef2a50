/** All random choices of a round come from one of these, so that its seed replays them. */
export interface Random {
  /** From 0 up to, and without, 1. */
  next(): number;
  chance(probability: number): boolean;
  /** A whole number from 0 up to, and without, `limit`. */
  below(limit: number): number;
  pick<const Thing>(things: readonly Thing[]): Thing;
  /** Some of them, each by itself, in their order. */
  some<Thing>(things: readonly Thing[], probability: number): Thing[];
  shuffled<Thing>(things: readonly Thing[]): Thing[];
}

/** Mulberry32: one word of state, good enough to draw faults with, and the same on every platform. */
export const randomOf = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  return randomFrom(next);
};

export const randomFrom = (next: () => number): Random => {
  const below = (limit: number): number => Math.floor(next() * limit);
  const chance = (probability: number): boolean => next() < probability;
  return {
    next,
    chance,
    below,
    pick: (things) => {
      if (things.length === 0) throw new Error('nothing to pick from');
      return things[below(things.length)]!;
    },
    some: (things, probability) => things.filter(() => chance(probability)),
    shuffled: (things) => {
      const mixed = [...things];
      for (let last = mixed.length - 1; last > 0; last -= 1) {
        const other = below(last + 1);
        [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
      }
      return mixed;
    },
  };
};
