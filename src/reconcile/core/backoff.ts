import { backoffDelay } from '../../lib/backoff.ts';
import { sameData } from '../../model/canonical.ts';
import type { RecordData } from '../../model/record.ts';
import type { Failure, Uptime } from '../../state/memory.ts';

/** A point in time, by a clock that may jump (ms since the epoch) and by one that never does. */
export interface Moment {
  readonly now: number;
  readonly uptime: Uptime;
}

/** The next failure of a record: the backoff grows from the first, after `unseen` from none, to `maxBackoff`. */
export const failureAfter = (
  previous: Failure | null,
  { kind, message, sent }: Pick<Failure, 'kind' | 'message' | 'sent'>,
  { now, uptime }: Moment,
  first = minBackoff,
): Failure => {
  const isRepeated = previous?.kind === kind && sameData(previous.sent, sent);
  const count = isRepeated ? previous.count + 1 : 1;
  const failures = kind === 'unseen' ? count - 1 : count;
  const growth = { first, max: Math.max(first, maxBackoff) };
  const pause = failures === 0 ? 0 : backoffDelay(failures, growth);
  return { kind, message, count, sent, retryAt: now + pause, pause, since: uptime };
};

/**
 * Whether a failure still keeps what is `sent` from being written. An edit ends the backoff after a refusal, but not
 * one after an unknown outcome.
 */
export const isActive = (failure: Failure | null, sent: RecordData, now: number): failure is Failure =>
  failure !== null && now < failure.retryAt && (failure.kind === 'unknown' || sameData(failure.sent, sent));

/**
 * A failure with its next try by the clock as it is now. A clock that was set back ends any backoff that would get
 * longer than it was meant to be, but not that of an add of unknown outcome. Of that,
 * what never jumps tells how much of the backoff is over; it tells nothing after the machine has started anew, and then
 * a clock that was set back makes the backoff begin anew.
 */
export const onSteadyTime = (failure: Failure, { now, uptime }: Moment): Failure => {
  const isLonger = failure.retryAt - now > failure.pause;
  if (failure.kind !== 'unknown') return isLonger ? { ...failure, retryAt: now } : failure;
  const elapsed = elapsedSince(failure.since, uptime);
  if (elapsed !== null) return withRetryAt(failure, now + failure.pause - elapsed);
  return isLonger ? { ...failure, retryAt: now + failure.pause, since: uptime } : failure;
};

/** Milliseconds; null where nothing but the clock that jumps can tell. */
export const elapsedSince = (since: Uptime | undefined, { boot, at }: Uptime): number | null =>
  since?.boot === boot && at >= since.at ? at - since.at : null;

/** No clock is exact to the millisecond: what hardly differs is the same, and need not be saved anew. */
const withRetryAt = (failure: Failure, retryAt: number): Failure =>
  Math.abs(retryAt - failure.retryAt) < 1_000 ? failure : { ...failure, retryAt };

/** Milliseconds. After an add of unknown outcome the shortest is the one that is set. */
const minBackoff = 60_000;
const maxBackoff = 6 * 3_600_000;
