import { backoffDelay } from '../lib/backoff.ts';
import { sameData } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import type { Acceptance, Failure, Uptime } from '../state/memory.ts';

/** A point in time, by the wall clock (ms since the epoch), which may jump, and by the monotonic clock. */
export interface Instant {
  readonly now: number;
  readonly uptime: Uptime;
}

/** The next failure of a record: the backoff grows from the first, after `unseen` from none, to `maxBackoff`. */
export const failureAfter = (
  previous: Failure | null,
  { kind, message, sent, ...given }: Pick<Failure, 'kind' | 'message' | 'sent' | 'idsBefore'>,
  { now, uptime }: Instant,
  first = minBackoff,
): Failure => {
  const isRepeated = previous?.kind === kind && sameData(previous.sent, sent);
  const count = isRepeated ? previous.count + 1 : 1;
  const failures = kind === 'unseen' ? count - 1 : count;
  const growth = { first, max: Math.max(first, maxBackoff) };
  const pause = failures === 0 ? 0 : backoffDelay(failures, growth);
  // What the first of several adds made may still appear.
  const idsBefore = (kind === 'unknown' ? previous?.idsBefore : undefined) ?? given.idsBefore;
  const failure = { kind, message, count, sent, retryAt: now + pause, pause, since: uptime };
  return idsBefore ? { ...failure, idsBefore } : failure;
};

/**
 * Whether a failure still delays the write of `sent`. An edit ends the backoff after a refusal, but not after
 * an unknown outcome.
 */
export const isActive = (failure: Failure | null, sent: RecordData, now: number): failure is Failure =>
  failure !== null && now < failure.retryAt && (failure.kind === 'unknown' || sameData(failure.sent, sent));

/** When it failed, in ms since the epoch. */
export const failedAt = ({ retryAt, pause }: Failure): number => retryAt - pause;

/** Until when an update of unknown outcome may take effect, in ms since the epoch; null if it no longer may. */
export const mayChangeUntil = (
  failure: Failure | null | undefined,
  { now, unknownPause }: { readonly now: number; readonly unknownPause: number },
): number | null => {
  if (failure?.kind !== 'unseen') return null;
  const until = failedAt(failure) + unknownPause;
  return now < until ? until : null;
};

/**
 * Corrects the next try of a failure after a jump of the wall clock. If the clock was set back, the backoff of a refusal
 * ends rather than gets longer. After a write of unknown outcome the monotonic clock gives the elapsed time; after a
 * reboot there is none, and then a clock that was set back restarts the backoff.
 */
export const correctedForClock = (failure: Failure, { now, uptime }: Instant): Failure => {
  const isLonger = failedAt(failure) > now;
  if (failure.kind === 'refused') return isLonger ? { ...failure, retryAt: now } : failure;
  const elapsed = elapsedSince(failure.since, uptime);
  if (elapsed !== null) return withRetryAt(failure, now + failure.pause - elapsed);
  return isLonger ? { ...failure, retryAt: now + failure.pause, since: uptime } : failure;
};

/**
 * Corrects, while listings may be behind a value that was accepted, since when they may be. After a reboot only the wall
 * clock tells the elapsed time, and one that was set back starts it again.
 */
export const acceptanceForClock = (
  accepted: Acceptance,
  { now, uptime }: Instant,
  settle: number,
): Acceptance => {
  const last = accepted.at.at(-1)!;
  const elapsed = elapsedSince(accepted.since, uptime);
  const at = Math.min(elapsed === null ? last : now - elapsed, now);
  const isOver = elapsed !== null && elapsed >= longestLag(settle);
  if (isOver || (last <= now && isNear(at, last))) return accepted;
  const since = elapsed === null ? uptime : accepted.since;
  return { ...accepted, at: [...accepted.at.slice(0, -1), at], since };
};

/** Milliseconds by the monotonic clock; null after a reboot. */
export const elapsedSince = (since: Uptime | undefined, { boot, at }: Uptime): number | null =>
  since?.boot === boot && at >= since.at ? at - since.at : null;

const withRetryAt = (failure: Failure, retryAt: number): Failure =>
  isNear(retryAt, failure.retryAt) ? failure : { ...failure, retryAt };

/** Clocks are not exact: a small difference need not be saved. */
const isNear = (one: number, other: number): boolean => Math.abs(one - other) < 1_000;

/** Milliseconds. After an add of unknown outcome the minimum is `unknownPause`. */
const minBackoff = 60_000;
const maxBackoff = 6 * 3_600_000;

/** Milliseconds. After this time, a missing value of ours was changed rather than not yet visible. */
export const maxLag = 600_000;

/** Milliseconds for which a listing may be behind our own writes, by the wait that the settings have between two. */
export const longestLag = (settle: number): number => Math.min(maxLag, 60 * settle);
