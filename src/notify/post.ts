import { request as requestInClear } from 'node:http';
import { request as requestSecure } from 'node:https';
import { readRetryAfter } from '../lib/retry-after.ts';

export interface Posting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds for everything up to the status of the answer. */
  readonly timeout: number;
  /** Cuts it off. */
  readonly signal: AbortSignal;
}

/**
 * `failed`: another try may go better. `refused`: the receiver wants no such message, however often it comes. Reasons
 * name neither the address, which may be a secret, nor what the receiver said, which may repeat it.
 */
export type Posted =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'failed' | 'refused'; readonly reason: string; readonly retryAfter: number };

/** Sends once, over a connection of its own, and follows no redirect. What is in the answer's body is not read. */
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

/** It is about this message. All else is about the address, the permission or the moment, which people mend. */
const refusals = new Set([400, 406, 413, 415, 422]);

/** Milliseconds, whatever the receiver asks for. */
const maxWait = 3_600_000;
