import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { messageOf } from '../errors.ts';
import { withDeadline } from '../lib/sleep.ts';
import { isLoopback } from '../model/address.ts';
import type { Route } from '../model/route.ts';
import { connect } from '../network/connect.ts';
import { nameOf } from '../network/trust.ts';
import { findingsAbout, type Found } from './finding.ts';

/** Whether the service can be reached: name, proxy, connection, certificate. */
export const examineAddress = async (
  baseUrl: string,
  route: Route,
  seenProxies: readonly string[],
  timeout: number,
): Promise<Found> => {
  const { all, ok, note, problem } = findingsAbout('address');
  const { origin, hostname } = new URL(baseUrl);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0 && route.proxy === null) {
    try {
      const addresses = await lookup(host, { all: true });
      ok(`${host} is ${addresses.map(({ address }) => address).join(', ')}`);
    } catch (error) {
      problem(`${host} cannot be resolved: ${messageOf(error)}`);
    }
  }
  if (route.proxy !== null) ok(`through the proxy ${route.proxy.shown} (${route.proxy.place})`);
  else if (seenProxies.length > 0) note(`no proxy, though ${seenProxies.join(', ')} is set`);
  try {
    const started = performance.now();
    const socket = await withDeadline(timeout, new AbortController().signal, (deadline) =>
      connect(origin, route, deadline),
    );
    ok(`connected to ${origin} in ${Math.round(performance.now() - started)} ms`);
    if ('getPeerCertificate' in socket) {
      const { issuer, valid_to: end } = socket.getPeerCertificate();
      ok(`${socket.getProtocol()}, certificate of ${nameOf(issuer)}, valid until ${end}`);
    } else if (!isLoopback(hostname)) note('no TLS: the tokens are sent unencrypted');
    socket.destroy();
  } catch (error) {
    problem(`no connection to ${origin}: ${messageOf(error)}`);
  }
  return { findings: all };
};
