import type { Logger } from 'pino';

/** A request that was refused. */
export interface PageRefusal {
  readonly token: 'trigger' | 'page';
  /** `foreign`: a form that another site has sent. */
  readonly reason: 'missing' | 'wrong' | 'foreign';
  /** The address of the client. */
  readonly address: string;
}

/**
 * Logs refusals: the first at once, those of the next ten seconds in one line, so that guessing tokens does
 * not fill the log.
 */
export const refusalLog = (log: Logger): ((refusal: PageRefusal) => void) => {
  let isWaiting = false;
  let last: PageRefusal | null = null;
  let count = 0;
  const say = (refusal: PageRefusal, requests: number): void => {
    isWaiting = true;
    log.warn({ event: 'request.refused', ...refusal, requests }, 'request refused: token missing or wrong');
    setTimeout(() => {
      isWaiting = false;
      if (last !== null) say(last, count);
      [last, count] = [null, 0];
    }, interval).unref();
  };
  return (refusal) => {
    if (!isWaiting) return say(refusal, 1);
    last = refusal;
    count += 1;
  };
};

/** Milliseconds. */
const interval = 10_000;
