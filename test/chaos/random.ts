/** All random choices of a round come from its seed. */
export interface Random {
  /** From 0 up to, but not, `bound`. */
  below(bound: number): number;
  chance(probability: number): boolean;
  pick<const T>(things: readonly [T, ...T[]]): T;
  /** Independent of this one, and always the same for the same label. */
  fork(label: string): Random;
}

export const randomOf = (seed: string): Random => {
  let state = hash(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (things) => things[below(things.length)] ?? things[0],
    fork: (label) => randomOf(`${seed}/${label}`),
  };
};

/** FNV-1a. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ char.charCodeAt(0), 0x01000193);
  return value;
};
