import { randomFrom, randomOf as numbersOf, type Random as Numbers } from '../laws/random.ts';

/** All random choices of a round come from its seed. */
export interface Random extends Numbers {
  /** Independent of this one, and always the same for the same label. */
  fork(label: string): Random;
}

export const randomOf = (seed: string): Random => ({
  ...numbersOf(hash(seed)),
  fork: (label) => randomOf(`${seed}/${label}`),
});

/** Takes the numbers of the one that is given at that moment. */
export const delegating = (current: () => Numbers): Numbers => randomFrom(() => current().next());

/** FNV-1a. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ char.charCodeAt(0), 0x01000193);
  return value;
};
