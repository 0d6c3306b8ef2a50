import type { TlsOptions } from 'node:tls';
import { expect, test } from 'vitest';
import { connected, failureOf, read, tokensIn, wireTemplate, write } from './connected.ts';
import { json, scriptedServer } from './scripted-server.ts';
import { authority, certificate, secureFront, trusted } from './certificates.ts';
import { startProxy } from './proxy.ts';

/*
 * A TLS connection that fails says where the fault is, and advises `ca` only where that is not set. Certainly nothing is
 * sent, so it is tried three times.
 */

const serviceAt = async (options: TlsOptions, ca: string | null, host = 'localhost') => {
  const server = await scriptedServer(json([wireTemplate]));
  const port = await secureFront(Number(new URL(server.url).port), options);
  // It takes any name for this machine.
  const { url } = await startProxy();
  const proxy = { url, shown: 'http://proxy', place: 'HTTPS_PROXY' };
  const clock = { now: Date.now, sleep: () => Promise.resolve() };
  const traces: unknown[] = [];
  const more = { ca: trusted(ca), proxy, clock, onRequest: (trace: unknown) => traces.push(trace) };
  return { service: connected(`https://${host}:${port}/api/v1`, more), server, traces };
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
    const { service, server, traces } = await serviceAt(options, ca, host);
    const [failure, ofWrite] = [await failureOf(read(service)), await failureOf(write(service))];
    const secrets = tokensIn({ failure, ofWrite, traces });
    // Only the end of TLS 1.3 may come after something was sent.
    const kind = fault.endsWith('1.3') ? expect.stringMatching(/^(?:not-sent|unavailable)$/) : 'not-sent';
    expect({ fault, seen: server.seen, secrets, failure, traces: traces.length }).toMatchObject({
      fault,
      seen: [],
      secrets: [],
      failure: { kind, status: null },
      traces: kind === 'not-sent' ? 6 : expect.any(Number),
    });
    // Versions of OpenSSL have other codes.
    const shown = failure.message
      .replace(/here it is 20[\d-]+T[\d:]+Z/, 'here it is NOW')
      .replace(/ERR_SSL_\w+/, 'CODE');
    told += `${fault}\n  ${shown}\n`;
  }
  await expect(told).toMatchFileSnapshot('trust.golden.txt');
});

test('a server that sends its intermediate certificate is trusted with the authority above that', async () => {
  const chain = { cert: `${certificate('inner')}\n${certificate('intermediate')}` };
  expect(await read((await serviceAt(chain, own)).service)).toMatchObject([{ id: 17 }]);
});
