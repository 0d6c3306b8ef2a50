import type { Failure, Uptime } from '../state/memory.ts';
import type { Clock } from './context.ts';

/**
 * The failure of an add whose outcome was unknown, with its next try by the clock as it is now; any other as it is.
 * What never jumps tells how much of the pause is over; it tells nothing after the machine has started anew, and then
 * a clock that was set back makes the pause begin anew.
 */
export const onSteadyTime = (failure: Failure, clock: Pick<Clock, 'now' | 'uptime'>): Failure => {
  if (failure.kind !== 'unknown') return failure;
  const now = clock.now();
  const uptime = clock.uptime();
  const known = elapsedSince(failure.since, uptime);
  if (known !== null) return withRetryAt(failure, now + failure.pause - known);
  const isLonger = failure.retryAt - now > failure.pause;
  return isLonger ? { ...failure, retryAt: now + failure.pause, since: uptime } : failure;
};

/** Null where nothing but the clock can tell. */
const elapsedSince = (since: Uptime | undefined, { boot, at }: Uptime): number | null =>
  since?.boot === boot && at >= since.at ? at - since.at : null;

/** No clock is exact to the millisecond: what hardly differs is the same, and need not be kept anew. */
const withRetryAt = (failure: Failure, retryAt: number): Failure =>
  Math.abs(retryAt - failure.retryAt) < 1_000 ? failure : { ...failure, retryAt };
