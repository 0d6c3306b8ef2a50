import { backoff } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import { HostingError } from './errors.ts';

interface RetryPolicy {
  readonly mayRepeat: (error: HostingError) => boolean;
  /** Milliseconds that the next pause may take at most; beyond it the error is thrown instead. */
  readonly maxBackoff: () => number;
  /** Ends the pauses: no attempt follows. */
  readonly signal: AbortSignal;
  readonly onPause?: ((milliseconds: number, why: string) => void) | undefined;
}

/** Repeats a failed attempt after pauses, three attempts in all, and throws the last attempt's error. */
export const withRetries = async <T>(attempt: () => Promise<T>, policy: RetryPolicy): Promise<T> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof HostingError) || failures === attempts || !policy.mayRepeat(error)) throw error;
      const pause = Math.max(backoff(failures, growth), error.retryAfter ?? 0);
      if (pause > policy.maxBackoff()) throw error;
      policy.onPause?.(pause, error.message);
      if (!(await sleep(pause, policy.signal))) throw error;
    }
  }
};

/** A read changes nothing, so it may be repeated whenever another try can go better. */
export const mayRepeatRead = ({ kind, status }: HostingError): boolean =>
  kind === 'not-sent' ||
  kind === 'rate-limited' ||
  (kind === 'unavailable' && (status === null || status === 408 || status >= 500));

/** A write is sent again only if it certainly never left: the service cannot undo a second one. */
export const mayRepeatWrite = ({ kind }: HostingError): boolean => kind === 'not-sent';

const attempts = 3;
const growth = { first: 400, max: 800, jitter: 1 };
