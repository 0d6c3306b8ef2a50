import type { HostingError } from '../hosting/errors.ts';
import type { Hold, HoldCause } from '../plan/hold.ts';

/** The hold of the client after a failed request. */
export const holdFor = ({ kind, message, retryAfter }: HostingError, now: number): Hold => {
  const wait = retryAfter ?? (kind === 'rate-limited' ? defaultWait : null);
  const retryAt = wait === null ? null : now + Math.min(wait, longestWait);
  return { scope: 'client', cause: causeOf(kind, retryAt), reason: message, retryAt };
};

const causeOf = (kind: HostingError['kind'], retryAt: number | null): HoldCause => {
  if (kind === 'unauthorized') return 'denied';
  if (kind === 'rate-limited') return 'rate-limited';
  return retryAt === null ? 'unreachable' : 'asked-to-wait';
};

/**
 * Whether the service accepts no more calls of the client for now: the tokens were rejected, or it asked to
 * wait.
 */
export const isClosed = (holds: readonly Hold[]): boolean =>
  holds.some(({ cause, retryAt }) => cause === 'denied' || retryAt !== null);

/** The hold to report: a denial comes first, then the longest requested wait. */
export const reportedHold = (holds: readonly Hold[]): Hold | null => {
  const reported = holds.find(({ cause }) => cause === 'denied') ?? holds[0];
  if (!reported) return null;
  const times = holds.flatMap(({ retryAt }) => retryAt ?? []);
  return { ...reported, retryAt: times.length > 0 ? Math.max(...times) : null };
};

/** The reason, with the time from which on there may be writes again. */
export const describeHold = ({ reason, retryAt }: Hold): string =>
  retryAt === null ? reason : `${reason}; not before ${new Date(retryAt).toISOString()}`;

/** Whether every other request of the client would fail too. */
export const concernsAll = ({ kind }: HostingError): boolean =>
  kind === 'unauthorized' || kind === 'rate-limited';

/** Milliseconds, if a service asks to wait without a time. */
const defaultWait = 60_000;

/** Milliseconds: the daemon tries again after a day, and a time of the far future is none that can be said. */
const longestWait = 24 * 3_600_000;
