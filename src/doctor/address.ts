import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { messageOf } from '../errors.ts';
import { isLoopback } from '../model/address.ts';
import type { Route } from '../model/route.ts';
import { tryConnection } from '../network/connection.ts';
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
    const { durationMs, tls } = await tryConnection(origin, route, timeout);
    ok(`connected to ${origin} in ${Math.round(durationMs)} ms`);
    if (tls) ok(`${tls.protocol}, certificate of ${tls.issuer}, valid until ${tls.validUntil}`);
    else if (!isLoopback(hostname)) note('no TLS: the tokens are sent unencrypted');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const isDistrust = /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_)/.test(code);
    problem(
      `no connection to ${origin}: ${messageOf(error)}${isDistrust ? ' (an authority of your own is named with ca)' : ''}`,
    );
  }
  return { findings: all };
};

/** Whether the clocks of service and machine agree. */
export const examineClock = (date: unknown, now: number): Found => {
  const { all, ok, note } = findingsAbout('clock');
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(theirs)) note('the service does not say what time it is');
  else if (Math.abs(now - theirs) < tolerated)
    ok(`agrees with that of the service within ${tolerated / 1_000} s`);
  else note(`differs from that of the service by ${Math.round(Math.abs(now - theirs) / 1_000)} s`);
  return { findings: all };
};

/** Milliseconds; HTTP dates have whole seconds. */
const tolerated = 5_000;
