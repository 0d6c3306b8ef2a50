import { createHmac } from 'node:crypto';
import { request as requestInClear } from 'node:http';
import { request as requestSecure, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectSecure, type SecureContext } from 'node:tls';
import { readRetryAfter } from '../lib/backoff.ts';
import type { Route } from '../model/route.ts';
import { openTunnel, proxyHeaders } from '../network/tunnel.ts';
import { trusting } from '../network/connection.ts';

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
export const post = ({ url, route, headers, body, timeout, signal }: Posting): Promise<Posted> =>
  new Promise((resolve) => {
    const bytes = Buffer.from(body);
    const { to, options, headers: own } = throughProxy(new URL(url), route, timeout);
    const request = (to.protocol === 'https:' ? requestSecure : requestInClear)(to, {
      method: 'POST',
      agent: false,
      ...options,
      headers: {
        'content-type': 'application/json',
        'content-length': bytes.length,
        'user-agent': 'dns-template-sync',
        ...own,
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
    const via = route.proxy === null ? '' : `, through the proxy ${route.proxy.shown} (${route.proxy.place})`;
    request.on('error', (error) =>
      fail(error.name === 'ProxyError' ? error.message : `${nameOf(error)}${via}`),
    );
    if (signal.aborted) cut();
    else request.end(bytes);
  });

const nameOf = (error: Error): string => ('code' in error ? String(error.code) : error.name);

/** As for the service: tunnels for `https:`; for `http:`, whole addresses are sent to the proxy. */
const throughProxy = (url: URL, { proxy, ca }: Route, timeout: number): Through => {
  const secureContext = trusting(ca);
  const trust = secureContext ? { secureContext } : {};
  if (proxy === null) return { to: url, options: { ...trust }, headers: {} };
  if (url.protocol === 'http:') {
    const headers = { host: url.host, ...proxyHeaders(proxy) };
    return { to: new URL(proxy.url), options: { path: url.href }, headers };
  }
  const { hostname, port } = url;
  const createConnection: RequestOptions['createConnection'] = (_, done) => {
    openTunnel(proxy, { host: hostname, port: Number(port || 443), timeout }, (error, socket) => {
      const servername = isIP(hostname) ? '' : hostname;
      const secure = socket && connectSecure({ socket, servername, host: hostname, ...trust });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- with an error, Node.js needs no socket
      done(error, secure as Duplex);
    });
    return null;
  };
  // With an agent, also with none, Node.js would connect by itself.
  return { to: url, options: { createConnection, agent: undefined }, headers: {} };
};

interface Through {
  readonly to: URL;
  readonly options: RequestOptions & { readonly secureContext?: SecureContext };
  readonly headers: Readonly<Record<string, string>>;
}

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
