import { setTimeout as sleep } from 'node:timers/promises';
import { HostingError } from './errors.ts';

interface Patience {
  readonly mayRepeat: (error: HostingError) => boolean;
  /** Milliseconds that the next pause may take at most; beyond it the error is thrown instead. */
  readonly longestPause: () => number;
  /** Ends the pauses: no attempt follows. */
  readonly signal: AbortSignal;
}

/** Repeats a failed attempt after pauses, three attempts in all, and throws the last attempt's error. */
export const withRetries = async <T>(attempt: () => Promise<T>, patience: Patience): Promise<T> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof HostingError) || failures === attempts || !patience.mayRepeat(error))
        throw error;
      const pause = Math.max(backoff(failures), error.retryAfter ?? 0);
      if (pause > patience.longestPause() || !(await slept(pause, patience.signal))) throw error;
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
const firstPause = 400;

/** Exponential with full jitter, so that many clients do not come back in step. */
const backoff = (failures: number): number => Math.random() * firstPause * 2 ** (failures - 1);

const slept = async (milliseconds: number, signal: AbortSignal): Promise<boolean> => {
  try {
    await sleep(milliseconds, undefined, { signal });
    return true;
  } catch {
    return false;
  }
};
