import { createHmac } from 'node:crypto';
import { UserError } from '../errors.ts';
import { readRetryAfter } from '../lib/backoff.ts';
import { credentialsIn } from '../model/route.ts';
import { basic } from '../network/connect.ts';
import { exchange, isSuccess } from '../network/exchange.ts';
import { WireError } from '../network/wire-error.ts';
import { templateAddress } from '../report/address.ts';
import type { NotifyReceiver } from '../settings/receivers.ts';
import { quiet } from './news.ts';
import type { Delivery } from './outbox.ts';
import type { NotifiedChange, Notification } from './schema.ts';
import { slackMessageOf } from './slack.ts';

/**
 * `failed`: another try may succeed. `refused`: the receiver will never accept this message. Reasons contain neither the
 * address, which may be a secret, nor the receiver's answer, which may repeat it.
 */
export type Posted =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'failed' | 'refused'; readonly reason: string; readonly retryAfter: number };

/** Makes one attempt, over a new connection. Address and secret are read anew: they may have been replaced. An unreadable address or secret is a failed attempt. */
export const post = async (
  delivery: Delivery,
  { type, url, routeTo, secret, timeout, publicUrl }: NotifyReceiver,
  signal: AbortSignal,
): Promise<Posted> => {
  const notification = notificationOf(delivery, publicUrl);
  const body = JSON.stringify(type === 'slack' ? slackMessageOf(notification) : notification);
  let through = '';
  try {
    const address = url.read();
    const { origin, pathname, search } = new URL(address);
    const credentials = credentialsIn(address);
    const route = routeTo(address);
    through = route.proxy === null ? '' : `, through the proxy ${route.proxy.shown} (${route.proxy.place})`;
    const { status, headers } = await exchange({
      kind: 'message',
      origin,
      path: pathname + search,
      route,
      headers: {
        'content-type': 'application/json',
        ...(credentials === '' ? {} : { authorization: basic(credentials) }),
        ...(type === 'slack' ? {} : signedHeaders(delivery.id, body, secret?.read() ?? null)),
      },
      body,
      timeout,
      signal,
      maxSize: 65_536,
    });
    if (isSuccess(status)) return { outcome: 'delivered' };
    const isRedirect = status >= 300 && status < 400;
    return {
      outcome: refusals.has(status) ? 'refused' : 'failed',
      reason: `the receiver answered ${status}${isRedirect ? ', and redirects are not followed' : ''}`,
      retryAfter: Math.min(readRetryAfter(headers['retry-after'], Date.now()) ?? 0, maxWait),
    };
  } catch (error) {
    if (error instanceof UserError) return { outcome: 'failed', reason: error.message, retryAfter: 0 };
    if (!(error instanceof WireError)) throw error;
    const { fault, message, code } = error;
    const isLate = fault === 'timeout';
    // Only the code of an error shows no address; what a proxy answers shows none either.
    const reason = isLate ? `no answer within ${timeout} ms` : fault === 'proxy' ? message : code + through;
    return { outcome: 'failed', reason, retryAfter: 0 };
  }
};

/** Statuses that concern the message itself. Others concern address, permission or load, which can be fixed. */
const refusals = new Set([400, 406, 413, 415, 422]);

/** Milliseconds; the receiver may ask for more. */
const maxWait = 3_600_000;

/** Sends a test message once. Returns why it was not accepted; null if it was. */
export const sendTest = async (settings: NotifyReceiver, id: string): Promise<string | null> => {
  const at = new Date().toISOString();
  const message = 'this is a test: messages reach this receiver';
  const test = { event: 'cleared', client: 'test', previous: 'in-sync', run: id, at } as const;
  const change: NotifiedChange = { ...test, ...quiet, message };
  const posted = await post({ id, createdAt: at, changes: [change] }, settings, new AbortController().signal);
  return posted.outcome === 'delivered' ? null : posted.reason;
};

const notificationOf = ({ id, createdAt, changes }: Delivery, publicUrl: string | null): Notification => ({
  schema: 'dns-template-sync/notification/v1',
  delivery: id,
  createdAt,
  changes: changes.map((change) => {
    const { client, template } = change;
    const page = template === null ? '' : templateAddress(template, client === 'default' ? null : client);
    return { ...change, ...(publicUrl === null ? {} : { link: `${publicUrl}/${page}` }) };
  }),
});

/**
 * The headers by which a receiver verifies a message, in the form of the Standard Webhooks specification, so that its
 * libraries check it: the message's id, the time of this attempt, and if there is a secret, `v1,` and the base64
 * HMAC-SHA256 of `ID.TIME.BODY`. A secret `whsec_…` is the base64 of the key.
 */
const signedHeaders = (id: string, body: string, secret: string | null): Record<string, string> => {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const encoded = /^whsec_(.*)$/s.exec(secret)?.[1];
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${digest}` };
};
