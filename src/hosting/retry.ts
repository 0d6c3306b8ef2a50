import { backoff } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import { HostingError } from './errors.ts';

export interface RetryPolicy {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly mayRepeat: (error: HostingError) => boolean;
  /** The longest next backoff in milliseconds; beyond it the error is thrown instead. */
  readonly maxBackoff: () => number;
  /** Ends the backoff: no further attempt. */
  readonly signal: AbortSignal;
  readonly onBackoff?: ((milliseconds: number, why: string) => void) | undefined;
}

/** Retries with backoff, three attempts in all, and throws the last attempt's error. */
export const withRetries = async <T>(attempt: () => Promise<T>, policy: RetryPolicy): Promise<T> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof HostingError) || failures === attempts || !policy.mayRepeat(error)) throw error;
      const delay = Math.max(backoff(failures, growth), error.retryAfter ?? 0);
      if (delay > policy.maxBackoff()) throw error;
      policy.onBackoff?.(delay, error.message);
      await policy.clock.sleep(delay, policy.signal);
      if (policy.signal.aborted) throw error;
    }
  }
};

/** A read changes nothing, so it may be repeated whenever another try may succeed. */
export const mayRepeatRead = ({ kind, status }: HostingError): boolean =>
  kind === 'not-sent' ||
  kind === 'rate-limited' ||
  (kind === 'unavailable' && (status === null || status === 408 || status >= 500));

/** A write is repeated only if it certainly was not sent: the service cannot undo a second one. */
export const mayRepeatWrite = ({ kind }: HostingError): boolean => kind === 'not-sent';

const attempts = 3;
const growth = { first: 400, max: 800, jitter: 1 };
