import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectInClear, isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { credentialsIn, type Proxy, type Route } from '../model/route.ts';
import { distrust, loadTls, trusting } from './trust.ts';
import { WireError, wireError } from './wire-error.ts';

/**
 * Opens a connection on which requests to an origin may be sent: through a proxy, `https:` has a tunnel, and `http:` goes
 * to the proxy itself. Rejects with {@link WireError}; then nothing was sent. The signal ends every step of it.
 */
export const connect = async (
  origin: string,
  route: Route,
  signal: AbortSignal,
): Promise<Socket | TLSSocket> => {
  try {
    return await open(origin, route, signal).catch((error: unknown) => {
      // The authority may have a new certificate, and the service one of it.
      if (signal.aborted || route.ca?.readAgain() !== true) throw error;
      return open(origin, route, signal);
    });
  } catch (error) {
    throw wireError(error, false);
  }
};

const open = async (
  origin: string,
  { proxy, ca }: Route,
  signal: AbortSignal,
): Promise<Socket | TLSSocket> => {
  if (proxy === null) return direct(origin, ca, signal);
  const socket = await toProxy(proxy, ca, signal);
  if (origin.startsWith('http:')) return socket;
  await openTunnel(socket, proxy, addressOf(origin), signal);
  return secure(socket, addressOf(origin).host, ca, signal);
};

/** What a proxy is sent by itself: user and password, if it wants some. */
export const proxyHeaders = ({ url }: Proxy): Record<string, string> =>
  credentialsIn(url) === '' ? {} : { 'proxy-authorization': basic(credentialsIn(url)) };

/** The credentials `USER:PASSWORD` as a header has them (RFC 7617). */
export const basic = (credentials: string): string => `Basic ${Buffer.from(credentials).toString('base64')}`;

interface Address {
  /** An IPv6 address is without brackets, as sockets and certificates have it. */
  readonly host: string;
  readonly port: number;
}

const addressOf = (url: string): Address => {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
};

/**
 * Node.js gives up each address of a host but the last one after 250 ms, even if none of the others answers. That a
 * packet is lost and sent again takes a second.
 */
const attemptTimeout = 1_500;

const direct = async (url: string, ca: Route['ca'], signal: AbortSignal): Promise<Socket> => {
  const { host, port } = addressOf(url);
  const options = { host, port, noDelay: true, autoSelectFamilyAttemptTimeout: attemptTimeout };
  const socket = await ready(connectInClear(options), 'connect', signal);
  return url.startsWith('https:') ? secure(socket, host, ca, signal) : socket;
};

const toProxy = async (proxy: Proxy, ca: Route['ca'], signal: AbortSignal): Promise<Socket> => {
  try {
    return await direct(proxy.url, ca, signal);
  } catch (error) {
    throw signal.aborted ? error : ofProxy(proxy, `cannot be reached: ${wireError(error, false).code}`);
  }
};

/** RFC 9110 §9.3.6. */
const openTunnel = async (
  socket: Socket,
  proxy: Proxy,
  { host, port }: Address,
  signal: AbortSignal,
): Promise<void> => {
  const path = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const headers = { host: path, ...proxyHeaders(proxy) };
  const request = httpRequest({ method: 'CONNECT', path, headers, createConnection: () => socket, signal });
  const [answer, first] = await new Promise<[IncomingMessage, Buffer]>((resolve, reject) => {
    request.on('connect', (response, _, head: Buffer) => resolve([response, head]));
    request.on('error', (error) =>
      reject(signal.aborted ? error : ofProxy(proxy, `opens no connection: ${wireError(error, false).code}`)),
    );
    request.end();
  });
  const { statusCode: status = 0 } = answer;
  if (status >= 200 && status <= 299) {
    if (first.length > 0) socket.unshift(first);
    return;
  }
  socket.destroy();
  throw ofProxy(
    proxy,
    status === 407
      ? 'answered 407: it wants a user and a password, as in http://USER:PASSWORD@HOST:PORT'
      : `opens no connection to this host and port: it answered ${status}`,
  );
};

const ofProxy = ({ shown, place }: Proxy, why: string): WireError =>
  new WireError(`the proxy ${shown} (${place}) ${why}`, { fault: 'proxy', sent: false });

/** Nothing is sent on a connection before its certificate was checked here. */
const secure = async (
  socket: Socket,
  host: string,
  ca: Route['ca'],
  signal: AbortSignal,
): Promise<TLSSocket> => {
  const secured = loadTls().connect({
    socket,
    host,
    // An address is no server name (RFC 6066 §3); the certificate is checked against `host` all the same.
    servername: isIP(host) === 0 ? host : '',
    // So that the certificate can be looked at where it is not trusted: Node.js throws it away otherwise.
    rejectUnauthorized: false,
    ...trusting(ca),
  });
  await ready(secured, 'secureConnect', signal);
  if (secured.authorized) return secured;
  const error = distrust(secured, host, ca !== null);
  secured.destroy();
  throw error;
};

const ready = async <S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> => {
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
};
