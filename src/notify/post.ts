import { createHmac } from 'node:crypto';
import { readRetryAfter } from '../lib/backoff.ts';
import { credentialsIn, type Route } from '../model/route.ts';
import { basic } from '../network/connect.ts';
import { exchange } from '../network/exchange.ts';
import { WireError } from '../network/wire-error.ts';

export interface Posting {
  readonly url: string;
  readonly route: Route;
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
export const post = async ({ url, route, headers, body, timeout, signal }: Posting): Promise<Posted> => {
  const { origin, pathname, search } = new URL(url);
  const credentials = credentialsIn(url);
  try {
    const answer = await exchange({
      method: 'POST',
      kind: 'message',
      origin,
      path: pathname + search,
      route,
      headers: {
        'content-type': 'application/json',
        ...(credentials === '' ? {} : { authorization: basic(credentials) }),
        ...headers,
      },
      body,
      timeout,
      signal,
      room: { size: 0, left: 0 },
    });
    return judge(answer.status, answer.headers['retry-after']);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { outcome: 'failed', reason: reasonOf(error, route, timeout), retryAfter: 0 };
  }
};

const reasonOf = ({ fault, code, message }: WireError, { proxy }: Route, timeout: number): string => {
  switch (fault) {
    case 'timeout':
      return `no answer within ${timeout} ms`;
    case 'aborted':
      return 'cut off: this program is ending';
    case 'proxy':
      return message;
    case 'network':
    case 'too-large':
      return proxy === null ? code : `${code}, through the proxy ${proxy.shown} (${proxy.place})`;
  }
};

const judge = (status: number, retryAfter: string | undefined): Posted => {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  const isRedirect = status >= 300 && status < 400;
  const reason = `the receiver answered ${status}${isRedirect ? ', and redirects are not followed' : ''}`;
  const outcome = refusals.has(status) ? 'refused' : 'failed';
  return { outcome, reason, retryAfter: Math.min(readRetryAfter(retryAfter, Date.now()) ?? 0, maxWait) };
};

/** Statuses that concern the message itself. Others concern address, permission or load, which can be fixed. */
const refusals = new Set([400, 406, 413, 415, 422]);

/** Milliseconds; the receiver may ask for more. */
const maxWait = 3_600_000;

/**
 * The headers by which a receiver verifies a message: its id, the time of this attempt (seconds since the
 * epoch), and if there is a secret, `v1,` and the base64 HMAC-SHA256 of `ID.TIME.BODY`. This is the form of
 * the Standard Webhooks specification, so that its libraries check it; as there, a secret `whsec_…` is the
 * base64 of the key.
 */
export const signedHeaders = (
  id: string,
  time: number,
  body: string,
  secret: string | null,
): Record<string, string> => {
  const timestamp = String(Math.floor(time / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const digest = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${digest}` };
};

const keyOf = (secret: string): Buffer =>
  secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), 'base64') : Buffer.from(secret);

const prefix = 'whsec_';
