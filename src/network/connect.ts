import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectInClear, isIP, type Socket } from 'node:net';
import {
  connect as connectSecurely,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { credentialsIn, type Proxy, type Route } from '../model/route.ts';
import { WireError, wireError } from './wire-error.ts';

/**
 * Opens a connection on which requests to an origin may be sent; through a proxy it is a tunnel. Rejects with
 * {@link WireError}; then nothing was sent. The signal ends every step of it.
 */
export const connect = async (origin: string, route: Route, signal: AbortSignal): Promise<Socket> => {
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

/** The credentials `USER:PASSWORD` as a header has them (RFC 7617). */
export const basic = (credentials: string): string => `Basic ${Buffer.from(credentials).toString('base64')}`;

const open = async (origin: string, { proxy, ca }: Route, signal: AbortSignal): Promise<Socket> => {
  if (proxy === null) return direct(origin, ca, signal);
  const failed = (what: string) => (error: unknown) => {
    throw signal.aborted ? error : ofProxy(proxy, `${what}: ${wireError(error, false).code}`);
  };
  const socket = await direct(proxy.url, ca, signal).catch(failed('cannot be reached'));
  // RFC 9110 §9.3.6.
  const { host, port } = addressOf(origin);
  const path = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const credentials = credentialsIn(proxy.url);
  const tunnel = httpRequest({
    method: 'CONNECT',
    path,
    headers: { host: path, ...(credentials === '' ? {} : { 'proxy-authorization': basic(credentials) }) },
    createConnection: () => socket,
    signal,
  });
  const answered = once(tunnel, 'connect').catch(failed('opens no tunnel'));
  tunnel.end();
  const [answer]: IncomingMessage[] = await answered;
  const status = answer?.statusCode ?? 0;
  if (status < 200 || status > 299) {
    socket.destroy();
    const advice =
      status === 407 ? ': it wants a user and a password, as in http://USER:PASSWORD@HOST:PORT' : '';
    throw ofProxy(proxy, `opens no tunnel to this host and port: it answered ${status}${advice}`);
  }
  return origin.startsWith('https:') ? secure(socket, host, ca, signal) : socket;
};

const ofProxy = ({ shown, place }: Proxy, why: string): WireError =>
  new WireError(`the proxy ${shown} (${place}) ${why}`, 'proxy', false);

/** An IPv6 address is without brackets, as sockets and certificates have it. */
const addressOf = (url: string): { readonly host: string; readonly port: number } => {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
};

const direct = async (url: string, ca: Route['ca'], signal: AbortSignal): Promise<Socket> => {
  const { host, port } = addressOf(url);
  // Node.js gives each address of a host but the last one 250 ms. That a packet is lost and sent again takes a second.
  const options = { host, port, noDelay: true, autoSelectFamilyAttemptTimeout: 1_500 };
  const socket = await ready(connectInClear(options), 'connect', signal);
  return url.startsWith('https:') ? secure(socket, host, ca, signal) : socket;
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

const secure = (socket: Socket, host: string, ca: Route['ca'], signal: AbortSignal): Promise<TLSSocket> => {
  const secured = connectSecurely({
    socket,
    host,
    // An address is no server name (RFC 6066 §3); the certificate is checked against `host` all the same.
    servername: isIP(host) === 0 ? host : '',
    ...(ca === null ? {} : { secureContext: trusting(ca.pem()) }),
  });
  return ready(secured, 'secureConnect', signal);
};

/** Trusts the usual authorities, and those of `ca`. */
const trusting = (pem: string): SecureContext => {
  const context = contexts.get(pem) ?? createSecureContext({ ca: [...rootCertificates, pem] });
  contexts.set(pem, context);
  return context;
};

const contexts = new Map<string, SecureContext>();
