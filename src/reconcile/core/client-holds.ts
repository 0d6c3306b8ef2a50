import type { HostingError } from '../../hosting/errors.ts';
import type { Hold } from '../../plan/hold.ts';

/** What a failed request holds of its client. */
export const holdFor = ({ kind, message, retryAfter }: HostingError, now: number): Hold => {
  const wait = retryAfter ?? (kind === 'rate-limited' ? defaultWait : null);
  const retryAt = wait === null ? null : now + wait;
  const cause = kind === 'unauthorized' ? 'denied' : retryAt === null ? 'unreachable' : 'asked-to-wait';
  return { scope: 'client', cause, reason: message, retryAt };
};

/** Whether the service takes no more calls of the client for now: the tokens open nothing, or it asked for time. */
export const isClosed = (holds: readonly Hold[]): boolean =>
  holds.some(({ cause, retryAt }) => cause === 'denied' || retryAt !== null);

/** The one hold to tell of: a denial is the cause of all else; the longest wait asked for counts. */
export const tellHold = (holds: readonly Hold[]): Hold | null => {
  const told = holds.find(({ cause }) => cause === 'denied') ?? holds[0];
  if (!told) return null;
  const times = holds.flatMap(({ retryAt }) => retryAt ?? []);
  return { ...told, retryAt: times.length > 0 ? Math.max(...times) : null };
};

/** With the time that was asked for. */
export const describeHold = ({ reason, retryAt }: Hold): string =>
  retryAt === null ? reason : `${reason}, and asked to wait until ${new Date(retryAt).toISOString()}`;

/** Whether what failed would fail for every other request of the client as well. */
export const concernsAll = ({ kind }: HostingError): boolean =>
  kind === 'unauthorized' || kind === 'rate-limited';

/** Milliseconds, where a service that asks for time does not say how much. */
const defaultWait = 60_000;
