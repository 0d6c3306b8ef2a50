export { elapsed, endOf, isBefore } from '../state/instant.ts';

/** How long a pass waits, in milliseconds. */
export interface Times {
  /** Between two readings. */
  readonly settle: number;
  /** How long a write may take effect after it was sent. */
  readonly unknownPause: number;
}

/** How far a listing may be behind our own writes: a service whose readings agree after `settle` is not behind by sixty times that. */
export const lagOf = ({ settle }: Times): number => Math.min(maxLag, 60 * settle);

/** After which what was sent has appeared, or never does: it may take effect late, and be listed `settle` later. */
export const longestTime = (times: Times): number =>
  Math.max(times.unknownPause, lagOf(times)) + times.settle;

const maxLag = 600_000;

export const isoOf = (time: number): string => new Date(time).toISOString();
