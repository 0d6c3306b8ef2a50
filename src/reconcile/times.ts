import type { Instant } from '../state/memory.ts';
import { elapsed } from '../state/instant.ts';

export { elapsed, endOf, isBefore } from '../state/instant.ts';

/** When something was asked for, and when it came. */
export interface Asked {
  readonly asked: Instant;
  readonly read: Instant;
}

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

/**
 * How old a view is, in ms, by the clock that says more: that of a machine that slept stood still. What was on its way meanwhile
 * is as old as its request, but for the time that the service took.
 */
export const ageOf = ({ asked, read }: Asked, now: Instant): number =>
  Math.max(elapsed(read, now), Math.abs(now.now - asked.now) - elapsed(asked, read));

/** The view that decides a write is a minute old at most, in ms: somebody else may write, too. */
export const longestView = 60_000;

export const isoOf = (time: number): string => new Date(time).toISOString();
