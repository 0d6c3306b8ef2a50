export interface Growth {
  /** Milliseconds. */
  readonly first: number;
  readonly max: number;
}

/** Milliseconds to wait after so many failures in a row: doubled each time. */
export const backoffDelay = (failures: number, { first, max }: Growth): number =>
  Math.min(max, first * 2 ** (failures - 1));

/** The same with a random share, so that many do not retry at once: `jitter` is from 0 (nothing) to 1 (all). */
export const backoff = (
  failures: number,
  { jitter, ...growth }: Growth & { readonly jitter: number },
  random: () => number = Math.random,
): number => backoffDelay(failures, growth) * (1 - jitter + jitter * random());
