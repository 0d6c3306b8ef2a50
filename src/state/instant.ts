import type { Instant } from './memory.ts';

/** Milliseconds, by the monotonic clock; after a reboot by the wall clock, never less than 0. */
export const elapsed = (since: Instant, until: Instant): number =>
  since.uptime.boot === until.uptime.boot && until.uptime.at >= since.uptime.at
    ? until.uptime.at - since.uptime.at
    : Math.max(0, until.now - since.now);

/** By the monotonic clock; after a reboot by the wall clock. */
export const isBefore = (one: Instant, other: Instant): boolean =>
  one.uptime.boot === other.uptime.boot ? one.uptime.at < other.uptime.at : one.now < other.now;

/** When a time that began `since` is over, in ms since the epoch as the wall clock is now. */
export const endOf = (since: Instant, length: number, now: Instant): number =>
  now.now + length - elapsed(since, now);
