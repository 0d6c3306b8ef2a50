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

/**
 * Milliseconds, or null if it is invalid: `Retry-After` is whole seconds or an HTTP date (RFC 9110, section
 * 10.2.3). `now` is in ms since the epoch.
 */
export const readRetryAfter = (header: string | string[] | undefined, now: number): number | null => {
  const value = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const date = value.endsWith('GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
};
