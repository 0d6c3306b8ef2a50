import type { Instant } from '../state/memory.ts';

/** How long a pass waits, in milliseconds. */
export interface Times {
  /** Between two readings. */
  readonly settle: number;
  /** How long a write may take effect after it was sent. */
  readonly unknownPause: number;
}

/** How far a listing may be behind our own writes. */
export const lagOf = ({ settle }: Times): number => Math.min(maxLag, 60 * settle);

/** After which no listing may show late what was sent. */
export const longestTime = (times: Times): number =>
  Math.max(times.unknownPause, lagOf(times)) + times.settle;

const maxLag = 600_000;

/** Milliseconds, by the monotonic clock; after a reboot by the wall clock, never less than 0. */
export const elapsed = (since: Instant, until: Instant): number =>
  since.uptime.boot === until.uptime.boot && until.uptime.at >= since.uptime.at
    ? until.uptime.at - since.uptime.at
    : Math.max(0, until.now - since.now);

/** When a time that began `since` is over, in ms since the epoch as the wall clock is now. */
export const endOf = (since: Instant, length: number, now: Instant): number =>
  now.now + length - elapsed(since, now);

export const isoOf = (time: number): string => new Date(time).toISOString();
