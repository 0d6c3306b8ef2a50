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
  const proxy = { url, shown: url, place: 'HTTPS_PROXY' };
  const service = connected(`https://${host}:${port}/api/v1`, { ca: trusted(ca), proxy });
  return { service, server };
};

const messageAt = async (options: TlsOptions, ca: string | null, host?: string): Promise<string> => {
  const { service, server } = await listAt(options, ca, host);
  const { kind, message } = await failureOf(service.listDnsTemplates());
  expect({ kind, seen: server.seen }).toEqual({
    kind: expect.stringMatching(/^(?:not-sent|unavailable)$/),
    seen: [],
  });
  return message;
};

const own = authority.pem;
const inner = { cert: certificate('inner') };

test.each<[fault: string, options: TlsOptions, ca: string | null, host: string, says: RegExp]>([
  [
    'an expired certificate',
    { cert: certificate('expired') },
    own,
    'localhost',
    /: its certificate expired on 2021-01-01T00:00:00Z; here it is 20\d\d-\d\d-\d\dT[\d:]+Z \(CERT_HAS_EXPIRED\), through/,
  ],
  [
    'a certificate of the future',
    { cert: certificate('early') },
    own,
    'localhost',
    /: its certificate is valid from 2110-01-01T00:00:00Z on; here it is 20\d\d-\S+Z: is this clock right\? \(CERT_NOT_YET_VALID\), through/,
  ],
  [
    'another host',
    {},
    own,
    'other.example.net',
    /: its certificate is not for other.example.net: check the base URL; it is for DNS:localhost, DNS:panel.example.net, IP Address:127.0.0.1 \(ERR_TLS_CERT_ALTNAME_INVALID\), through/,
  ],
  [
    'a missing intermediate, or an authority that is not named',
    inner,
    null,
    'localhost',
    /: its certificate is not trusted: it comes from inner authority; set ca if it is an authority of your own, or the service does not send its intermediate certificate \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\), through/,
  ],
  [
    'a missing intermediate where the authority is named',
    inner,
    own,
    'localhost',
    /: its certificate is not trusted: it comes from inner authority; ca does not have it, or the service does not send its intermediate certificate \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\), through/,
  ],
  [
    'an authority of its own, which it shows',
    { cert: `${certificate('server')}\n${own}` },
    null,
    'localhost',
    /: its certificate is not trusted: it comes from authority; set ca if it is an authority of your own \(SELF_SIGNED_CERT_IN_CHAIN\), through/,
  ],
  [
    'an old protocol',
    { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    own,
    'localhost',
    /: the service speaks only an old version of TLS: this program needs TLS 1.2 or later \(ERR_SSL_[A-Z0-9_]+\), through/,
  ],
  [
    'a client certificate wanted, in TLS 1.3',
    { requestCert: true, rejectUnauthorized: true },
    own,
    'localhost',
    /: the service wants a client certificate, and this program has none to give \(ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED\), through/,
  ],
  [
    'a client certificate wanted, in TLS 1.2',
    { requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' },
    own,
    'localhost',
    /: the service ended the TLS handshake: it may want a client certificate, which this program has none of, or other ciphers \(ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE\), through/,
  ],
])('%s', async (_, options, ca, host, says) => {
  const message = await messageAt(options, ca, host);
  expect(message).toMatch(says);
  expect(message.includes('set ca')).toBe(ca === null);
});

test('a server that sends its intermediate certificate is trusted with the authority above that', async () => {
  const { service } = await listAt({ cert: `${certificate('inner')}\n${certificate('intermediate')}` }, own);
  expect(await service.listDnsTemplates()).toMatchObject([{ id: 17 }]);
});
