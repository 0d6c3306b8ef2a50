import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectInClear, isIP, type Socket } from 'node:net';
import {
  connect as connectSecurely,
  createSecureContext,
  rootCertificates,
  type DetailedPeerCertificate,
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

/** Nothing is sent on a connection before its certificate was checked here. */
const secure = async (
  socket: Socket,
  host: string,
  ca: Route['ca'],
  signal: AbortSignal,
): Promise<TLSSocket> => {
  const secured = connectSecurely({
    socket,
    host,
    // An address is no server name (RFC 6066 §3); the certificate is checked against `host` all the same.
    servername: isIP(host) === 0 ? host : '',
    // So that the certificate can be looked at where it is not trusted: Node.js throws it away otherwise.
    rejectUnauthorized: false,
    ...(ca === null ? {} : { secureContext: trusting(ca.pem()) }),
  });
  await ready(secured, 'secureConnect', signal);
  if (secured.authorized) return secured;
  // Node.js gives the code, though its type says otherwise.
  const code = String(secured.authorizationError);
  const words = distrust(code, chainOf(secured.getPeerCertificate(true)), host, ca !== null);
  secured.destroy();
  throw new WireError(`${words} (${code})`, 'network', false, code);
};

/** Trusts the usual authorities, and those of `ca`. */
const trusting = (pem: string): SecureContext => {
  const context = contexts.get(pem) ?? createSecureContext({ ca: [...rootCertificates, pem] });
  contexts.set(pem, context);
  return context;
};

const contexts = new Map<string, SecureContext>();

/** From the server's own certificate to the last one that is known. */
const chainOf = (own: DetailedPeerCertificate): DetailedPeerCertificate[] => {
  const chain: DetailedPeerCertificate[] = [];
  for (let one = own; one?.subject && !chain.includes(one); one = one.issuerCertificate) chain.push(one);
  return chain;
};

/** Why a certificate is not trusted, and where to look for the fault. */
const distrust = (
  code: string,
  chain: readonly DetailedPeerCertificate[],
  host: string,
  hasCa: boolean,
): string => {
  const now = new Date();
  const of = (one: DetailedPeerCertificate): string =>
    one === chain[0] ? 'its certificate' : `the certificate of ${nameOf(one.subject)}, which issued its own,`;
  for (const one of chain) {
    const [start, end] = [new Date(one.valid_from), new Date(one.valid_to)];
    if (code === 'CERT_HAS_EXPIRED' && end < now)
      return `${of(one)} expired on ${timeText(end)}; here it is ${timeText(now)}`;
    if (code === 'CERT_NOT_YET_VALID' && start > now)
      return `${of(one)} is valid from ${timeText(start)} on; here it is ${timeText(now)}: is this clock right?`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate is not for ${host}: check the base URL; it is for ${chain[0]?.subjectaltname ?? nameOf(chain[0]?.subject)}`;
  const advice = hasCa ? 'ca does not have it' : 'set ca if it is an authority of your own';
  const mayLackIssuer = /^UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)/.test(code);
  const other = mayLackIssuer ? ', or the service does not send its intermediate certificate' : '';
  return `its certificate is not trusted: it comes from ${nameOf(chain.at(-1)?.issuer)}; ${advice}${other}`;
};

/** Of an authority, as people know it. */
const nameOf = (subject: Partial<DetailedPeerCertificate['subject']> | undefined): string =>
  [subject?.O, subject?.CN].flat().filter(Boolean).join(', ') || 'an authority without a name';

const timeText = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');
