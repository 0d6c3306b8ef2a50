import type { Logger } from 'pino';

/** A request that was not let in. */
export interface PageRefusal {
  readonly token: 'trigger' | 'page';
  readonly reason: 'missing' | 'wrong';
  /** Where it came from. */
  readonly address: string;
}

/**
 * Logs refusals: the first at once, and those of the next ten seconds in one line, so that nobody fills the log by
 * guessing.
 */
export const refusalLog = (log: Logger): ((refusal: PageRefusal) => void) => {
  let isWaiting = false;
  let last: PageRefusal | null = null;
  let count = 0;
  const say = (refusal: PageRefusal, requests: number): void => {
    isWaiting = true;
    log.warn({ event: 'request.refused', ...refusal, requests }, 'request refused: it lacks the token');
    setTimeout(() => {
      isWaiting = false;
      if (last !== null) say(last, count);
      [last, count] = [null, 0];
    }, pause).unref();
  };
  return (refusal) => {
    if (!isWaiting) return say(refusal, 1);
    last = refusal;
    count += 1;
  };
};

/** Milliseconds. */
const pause = 10_000;
