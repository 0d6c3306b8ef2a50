import { request as requestInClear } from 'node:http';
import { request as requestSecure } from 'node:https';
import { readRetryAfter } from '../lib/retry-after.ts';

export interface Posting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds until the status of the answer has to be there. */
  readonly timeout: number;
  /** Aborts the request. */
  readonly signal: AbortSignal;
}

/**
 * `failed`: another try may succeed. `refused`: the receiver will never accept this message. Reasons contain
 * neither the address, which may be a secret, nor the receiver's answer, which may repeat it.
 */
export type Posted =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'failed' | 'refused'; readonly reason: string; readonly retryAfter: number };

/** Sends once, over a new connection. Follows no redirect and does not read the body of the answer. */
export const post = ({ url, headers, body, timeout, signal }: Posting): Promise<Posted> =>
  new Promise((resolve) => {
    const bytes = Buffer.from(body);
    const request = (url.startsWith('https:') ? requestSecure : requestInClear)(url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        'content-length': bytes.length,
        'user-agent': 'dns-template-sync',
        ...headers,
      },
    });
    const settle = (posted: Posted): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cut);
      resolve(posted);
      request.destroy();
    };
    const fail = (reason: string): void => settle({ outcome: 'failed', reason, retryAfter: 0 });
    const cut = (): void => fail('cut off: this program is ending');
    const timer = setTimeout(() => fail(`no answer within ${timeout} ms`), timeout);
    signal.addEventListener('abort', cut);
    request.on('response', (response) => {
      response.on('error', () => undefined);
      settle(judge(response.statusCode ?? 0, response.headers['retry-after']));
    });
    request.on('error', (error) => fail('code' in error ? String(error.code) : error.name));
    if (signal.aborted) cut();
    else request.end(bytes);
  });

const judge = (status: number, retryAfter: string | undefined): Posted => {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  const isRedirect = status >= 300 && status < 400;
  const reason = `the receiver answered ${status}${isRedirect ? ', and redirects are not followed' : ''}`;
  const outcome = refusals.has(status) ? 'refused' : 'failed';
  return { outcome, reason, retryAfter: Math.min(readRetryAfter(retryAfter) ?? 0, maxWait) };
};

/** Statuses that concern the message itself. Others concern address, permission or load, which can be fixed. */
const refusals = new Set([400, 406, 413, 415, 422]);

/** Milliseconds; the receiver may ask for more. */
const maxWait = 3_600_000;
