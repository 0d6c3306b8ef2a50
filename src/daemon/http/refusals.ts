import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import type { Logger } from 'pino';

/** A request that was refused. */
export interface PageRefusal {
  readonly token: 'trigger' | 'page';
  /** `foreign`: a form that another site has sent. */
  readonly reason: 'missing' | 'wrong' | 'foreign';
  /** The address of the client. */
  readonly address: string;
}

/** The address of the client. */
export const peerOf = (c: Context): string => getConnInfo(c).remote.address ?? '';

/** Logs refusals, every ten seconds at most, so that guessing tokens does not fill the log. */
export const refusalLog = (log: Logger): ((refusal: PageRefusal) => void) => {
  let requests = 0;
  let next = -Infinity;
  return (refusal) => {
    requests += 1;
    if (performance.now() < next) return;
    log.warn({ event: 'request.refused', ...refusal, requests }, 'request refused: token missing or wrong');
    [requests, next] = [0, performance.now() + 10_000];
  };
};
