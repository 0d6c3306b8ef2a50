import { createRequire } from 'node:module';
import { connect, isIP, type Socket } from 'node:net';
import type * as Tls from 'node:tls';
import type { Route } from '../model/route.ts';
import { openTunnel } from './tunnel.ts';

/** How a connection to an origin came about. */
export interface Connection {
  readonly durationMs: number;
  /** Null without TLS. */
  readonly tls: { readonly protocol: string; readonly issuer: string; readonly validUntil: string } | null;
}

/** Connects once, as requests do, and closes again. Rejects with the error of the network. */
export const tryConnection = async (
  origin: string,
  { proxy, ca }: Route,
  timeout: number,
): Promise<Connection> => {
  const { protocol, hostname, port } = new URL(origin);
  const isSecure = protocol === 'https:';
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const to = { host, port: Number(port || (isSecure ? 443 : 80)), timeout };
  const started = performance.now();
  const socket = await new Promise<Socket>((resolve, reject) => {
    if (proxy !== null && isSecure)
      openTunnel(proxy, to, (error, tunnel) => (tunnel ? resolve(tunnel) : reject(error ?? new Error())));
    else {
      const place = proxy === null ? to : portOf(proxy.url);
      const plain = connect({ host: place.host, port: place.port, timeout });
      plain.once('connect', () => resolve(plain));
      plain.once('timeout', () => plain.destroy(new Error(`no connection within ${timeout} ms`)));
      plain.once('error', reject);
    }
  });
  try {
    const tls = isSecure ? await handshake(socket, host, ca, timeout) : null;
    return { durationMs: performance.now() - started, tls };
  } finally {
    socket.destroy();
  }
};

const portOf = (url: string): { host: string; port: number } => {
  const { protocol, hostname, port } = new URL(url);
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  };
};

const handshake = (
  socket: Socket,
  host: string,
  ca: string | null,
  timeout: number,
): Promise<NonNullable<Connection['tls']>> =>
  new Promise((resolve, reject) => {
    const secureContext = trusting(ca);
    const trust = secureContext ? { secureContext } : {};
    const secure = loadTls().connect({ socket, host, servername: isIP(host) ? '' : host, ...trust });
    secure.setTimeout(timeout, () => secure.destroy(new Error(`no TLS handshake within ${timeout} ms`)));
    secure.once('error', reject);
    secure.once('secureConnect', () => {
      const { issuer, valid_to: validUntil } = secure.getPeerCertificate();
      const { O: organisation, CN: name } = issuer;
      const shown = [organisation, name].flat().filter(Boolean).join(', ');
      resolve({ protocol: secure.getProtocol() ?? 'TLS', issuer: shown, validUntil });
      secure.destroy();
    });
  });

/** What TLS trusts: the usual authorities, and those of `ca` (PEM). Undefined without any of one's own. */
export const trusting = (ca: string | null): Tls.SecureContext | undefined => {
  if (ca === null) return undefined;
  const known = contexts.get(ca) ?? loadTls().createSecureContext({ ca: [...usualAuthorities(), ca] });
  contexts.set(ca, known);
  return known;
};

const contexts = new Map<string, Tls.SecureContext>();

/** Before Node.js 22.15, a list of authorities leaves out those of NODE_EXTRA_CA_CERTS. */
const usualAuthorities = (): readonly string[] => {
  const tls = loadTls();
  return 'getCACertificates' in tls && typeof tls.getCACertificates === 'function'
    ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Node.js documents it
      (tls.getCACertificates('default') as string[])
    : tls.rootCertificates;
};

/** Few connections need it, and it takes long to load. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Node.js documents it
const loadTls = (): typeof Tls => createRequire(import.meta.url)('node:tls') as typeof Tls;
