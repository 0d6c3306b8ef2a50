import type { TlsOptions } from 'node:tls';
import { expect, test } from 'vitest';
import { connected, failureOf, wireTemplate } from './connected.ts';
import { json, scriptedServer } from './scripted-server.ts';
import { authority, certificate, secureFront, trusted } from './certificates.ts';
import { startProxy } from './proxy.ts';

/* A TLS connection that fails says where the fault is, and advises `ca` only where that is not set. */

const listAt = async (options: TlsOptions, ca: string | null, host = 'localhost') => {
  const server = await scriptedServer(json([wireTemplate]));
  const port = await secureFront(Number(new URL(server.url).port), options);
  // It takes any name for this machine.
  const { url } = await startProxy();
  const proxy = { url, shown: 'http://proxy', place: 'HTTPS_PROXY' };
  const clock = { now: Date.now, sleep: () => Promise.resolve() };
  const service = connected(`https://${host}:${port}/api/v1`, { ca: trusted(ca), proxy, clock });
  return { listing: service.listDnsTemplates(), server };
};

const own = authority.pem;
const inner = { cert: certificate('inner') };
const asking = { requestCert: true, rejectUnauthorized: true };
const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;

test('what is wrong is said, and nothing is asked', async () => {
  let told = '';
  for (const [fault, options, ca = own, host] of [
    ['an expired certificate', { cert: certificate('expired') }],
    ['a certificate of the future', { cert: certificate('early') }],
    ['another host', {}, own, 'other.example.net'],
    ['a missing intermediate, or an authority that is not named', inner, null],
    ['a missing intermediate where the authority is named', inner],
    ['an authority of its own, which it shows', { cert: `${certificate('server')}\n${own}` }, null],
    ['an old protocol', old],
    ['a client certificate wanted, in TLS 1.3', asking],
    ['a client certificate wanted, in TLS 1.2', { ...asking, maxVersion: 'TLSv1.2' }],
  ] as readonly (readonly [string, TlsOptions, (string | null)?, string?])[]) {
    const { listing, server } = await listAt(options, ca, host);
    const { message } = await failureOf(listing);
    expect({ fault, seen: server.seen }).toEqual({ fault, seen: [] });
    // Versions of OpenSSL have other codes.
    const shown = message
      .replace(/here it is 20[\d-]+T[\d:]+Z/, 'here it is NOW')
      .replace(/ERR_SSL_\w+/, 'CODE');
    told += `${fault}\n  ${shown}\n`;
  }
  await expect(told).toMatchFileSnapshot('trust.golden.txt');
});

test('a server that sends its intermediate certificate is trusted with the authority above that', async () => {
  const { listing } = await listAt({ cert: `${certificate('inner')}\n${certificate('intermediate')}` }, own);
  expect(await listing).toMatchObject([{ id: 17 }]);
});
