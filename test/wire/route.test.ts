import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Route } from '../../src/model/route.ts';
import { post } from '../../src/notify/delivery.ts';
import { readSettings } from '../../src/settings.ts';
import { receiver } from '../notify/pass-events.ts';
import { connected, failureOf, read, wireTemplate, write } from './connected.ts';
import { json, rawServer, scriptedServer } from './scripted-server.ts';
import { authority, secureFront, trusted } from './certificates.ts';
import { startProxy, type ProxyOptions } from './proxy.ts';

const tokens = { DNS_SYNC_USER_TOKEN: 'user-token', DNS_SYNC_CLIENT_TOKEN: 'client-token' };

/** The settings of an environment, or of a file in this directory. */
const settingsOf = (env: Record<string, string>, cwd = '/', config: string | false = false) =>
  readSettings({ flags: { config }, env: { ...tokens, HOME: cwd, ...env }, cwd, needsService: true });

const temporary = (): string => {
  const cwd = mkdtempSync(path.join(tmpdir(), 'route-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  return cwd;
};

const proxied = (url: string): Route['proxy'] => ({ url, shown: new URL(url).origin, place: 'HTTPS_PROXY' });

/** A service behind TLS with a certificate of an authority of its own, and a proxy before it. */
const scene = async (options: ProxyOptions = {}) => {
  const server = await scriptedServer(json([wireTemplate]), json(wireTemplate), json(wireTemplate));
  const port = await secureFront(Number(new URL(server.url).port));
  const proxy = await startProxy(options);
  return {
    server,
    proxy,
    ca: trusted(authority.pem),
    baseUrl: `https://panel.example.net:${port}/api/v1`,
    tunnel: `CONNECT panel.example.net:${port}`,
  };
};

test('the service is reached over TLS through a proxy: one connection for reads, and one for each write', async () => {
  const { server, proxy, ca, baseUrl, tunnel } = await scene();
  const service = connected(baseUrl, { proxy: proxied(proxy.url), ca });
  await read(service);
  await write(service);
  await write(service);
  expect(proxy.seen).toEqual([tunnel, tunnel, tunnel]);
  expect(new Set(server.seen.map(({ connection }) => connection)).size).toBe(3);
});

test('it is reached in clear through a tunnel too, and nothing that is for the proxy goes on', async () => {
  const server = await scriptedServer(json([wireTemplate]), json(wireTemplate));
  const proxy = await startProxy({ credentials: 'somebody:pass word' });
  const { port } = new URL(server.url);
  const url = proxy.url.replace('://', '://somebody:pass%20word@');
  const service = connected(`http://panel.example.net:${port}/api/v1`, { proxy: proxied(url) });
  await read(service);
  await write(service);
  const tunnel = `CONNECT panel.example.net:${port}`;
  expect(proxy.seen).toEqual([tunnel, tunnel]);
  expect(server.seen[0]?.headers.host).toBe(`panel.example.net:${port}`);
  expect(server.seen.flatMap(({ headers }) => headers['proxy-authorization'] ?? [])).toEqual([]);
});

const gone = async (): Promise<string> => {
  const server = await scriptedServer();
  await server.close();
  return new URL(server.url).origin;
};

test.each<[what: string, proxyUrl: () => Promise<string>, words: string]>([
  [
    'wants a password',
    async () => (await startProxy({ credentials: 'a:b' })).url,
    'opens no tunnel to this host and port: it answered 407: it wants a user and a password',
  ],
  [
    'refuses',
    async () => (await startProxy({ refusal: 403 })).url,
    'opens no tunnel to this host and port: it answered 403',
  ],
  ['is not there', gone, 'cannot be reached: ECONNREFUSED'],
  [
    'says nothing',
    async () => `http://${await rawServer(() => undefined)}`,
    'timeout: a connection did not come',
  ],
])('nothing is sent if a proxy %s', async (_, proxyUrl, words) => {
  const { server, ca, baseUrl } = await scene();
  const timeouts = words.startsWith('timeout') ? { requestTimeout: 100, writeTimeout: 100 } : {};
  const service = connected(baseUrl, { proxy: proxied(await proxyUrl()), ca, ...timeouts });
  for (const call of [read(service), write(service)]) {
    const { kind, message } = await failureOf(call);
    expect([kind, message]).toEqual(['not-sent', expect.stringContaining(words)]);
    if (!words.startsWith('timeout')) expect(message).toContain('(HTTPS_PROXY)');
  }
  expect(server.seen).toEqual([]);
});

test('an IPv6 address is asked for as RFC 3986 has it, and checked as TLS has it', async () => {
  const { proxy, ca, baseUrl } = await scene();
  const { port } = new URL(baseUrl);
  const service = connected(`https://[::1]:${port}/api/v1`, { proxy: proxied(proxy.url), ca });
  // The proxy takes any address for that of this machine.
  const { message } = await failureOf(read(service));
  expect(message).toContain('its certificate is not for ::1: check the base URL');
  expect(proxy.seen[0]).toBe(`CONNECT [::1]:${port}`);
});

test('certificates of authorities are read again when they do not fit: their file may have been replaced', async () => {
  const { baseUrl } = await scene();
  const cwd = temporary();
  const file = path.join(cwd, 'ca.pem');
  writeFileSync(file, rootCertificates[0]!);
  const url = baseUrl.replace('panel.example.net', 'localhost');
  const { clients } = settingsOf({ DNS_SYNC_CA: file, DNS_SYNC_BASE_URL: url }, cwd);
  const service = connected(url, { ca: clients[0]!.ca });
  expect((await failureOf(read(service))).message).toContain('its certificate is not trusted');
  writeFileSync(file, 'half a file');
  expect((await failureOf(read(service))).message).toContain('its certificate is not trusted');
  writeFileSync(file, authority.pem);
  expect(await read(service)).toMatchObject([{ id: 17 }]);
  expect(await write(service)).toMatchObject({ id: 17 });
});

describe('a receiver of messages', () => {
  const send = (url: string, route: Route) =>
    post(
      { id: 'id', createdAt: '', changes: [] },
      receiver({ url: { read: () => url, place: '' }, routeTo: () => route }),
      new AbortController().signal,
    );

  test('is reached through a proxy, with the user, password and query of its address', async () => {
    const { server, proxy, ca, baseUrl, tunnel } = await scene();
    const url = `${baseUrl}/hook?key=7`.replace('://', '://somebody:pass%20word@');
    expect(await send(url, { proxy: proxied(proxy.url), ca })).toEqual({ outcome: 'delivered' });
    expect(proxy.seen).toEqual([tunnel]);
    const authorization = `Basic ${Buffer.from('somebody:pass word').toString('base64')}`;
    expect(server.seen).toMatchObject([{ path: '/api/v1/hook', query: 'key=7', headers: { authorization } }]);
  });

  test('fails without its address if a proxy refuses, or if its certificate is not trusted', async () => {
    const { proxy, baseUrl } = await scene();
    const refusing = await startProxy({ refusal: 403 });
    const reasons = [
      await send(baseUrl, { proxy: proxied(refusing.url), ca: null }),
      await send(baseUrl, { proxy: proxied(proxy.url), ca: null }),
    ];
    expect(reasons).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining('it answered 403') },
      { outcome: 'failed', reason: expect.stringMatching(/^[A-Z_]+, through the proxy http:/) },
    ]);
    expect(JSON.stringify(reasons)).not.toContain('panel.example.net');
  });
});

describe('the proxy', () => {
  const secure = 'https://panel.example.net/api/v1';
  const proxyOf = (env: Record<string, string>, baseUrl = secure): string | null => {
    const proxy = settingsOf({ DNS_SYNC_BASE_URL: baseUrl, ...env }).clients[0]?.proxy;
    return proxy ? `${proxy.shown} ${proxy.place}` : null;
  };
  const https = { HTTPS_PROXY: 'http://proxy.example.net:3128' };

  const ofVariable = 'http://proxy.example.net:3128 HTTPS_PROXY';

  test.each<[env: Record<string, string>, expected: string | null, baseUrl?: string]>([
    [https, ofVariable],
    [{ HTTPS_PROXY: 'proxy.example.net:3128' }, ofVariable],
    [{ ...https, https_proxy: 'http://other:1' }, 'http://other:1 https_proxy'],
    [{ HTTP_PROXY: 'http://proxy.example.net' }, null],
    [{ ...https, DNS_SYNC_PROXY: 'https://other' }, 'https://other DNS_SYNC_PROXY'],
    [{ ...https, DNS_SYNC_PROXY: 'off' }, null],
    [{ ...https, NO_PROXY: '*' }, null],
    [{ ...https, NO_PROXY: 'panel.example.net' }, null],
    [{ ...https, NO_PROXY: 'one.example, .Example.net' }, null],
    [{ ...https, NO_PROXY: '*.example.net' }, null],
    [{ ...https, no_proxy: 'example.net:443' }, null],
    [{ ...https, NO_PROXY: 'example.net:8443,ample.net,10.0.0.0/8' }, ofVariable],
    [{ ...https, NO_PROXY: '10.1.2.3' }, null, 'https://10.1.2.3/api'],
    [{ ...https, NO_PROXY: '1.2.3' }, ofVariable, 'https://11.1.2.3/api'],
    [{ ...https, NO_PROXY: '2001:db8::1' }, null, 'https://[2001:db8::1]/api'],
    // What may be sent to this machine in clear does not leave it.
    [{ HTTP_PROXY: 'http://proxy.example.net' }, null, 'http://127.0.0.1:8080/api'],
    [https, null, 'https://localhost/api'],
    [{ DNS_SYNC_PROXY: 'http://127.0.0.1:1' }, 'http://127.0.0.1:1 DNS_SYNC_PROXY', 'http://localhost/api'],
  ])('is that of %j: %s', (env, expected, baseUrl) => {
    expect(proxyOf(env, baseUrl)).toBe(expected);
  });

  test('of this machine alone may see what is sent in clear', () => {
    expect(() => proxyOf({ DNS_SYNC_PROXY: 'http://proxy.example.net' }, 'http://localhost/api')).toThrow(
      'would send the tokens unencrypted to the proxy',
    );
  });

  test('is not taken from a settings file with a password, and files of authorities must hold some', () => {
    const cwd = temporary();
    const file = path.join(cwd, 'settings.yaml');
    const given = (text: string) => {
      writeFileSync(file, `baseUrl: ${secure}\n${text}`);
      return () => settingsOf({}, cwd, file);
    };
    expect(given('proxy: "http://a:b@proxy.example.net"')).toThrow(
      /settings.yaml:2.*secrets are not allowed/,
    );
    expect(given('ca: settings.yaml')).toThrow(/settings.yaml:2.*has no certificate in PEM form/);
    expect(given('ca: none.pem')).toThrow(/cannot read certificates from .*none.pem \(it does not exist/);
    expect(given(`ca: ${authority.file}`)().clients[0]?.ca?.pem()).toContain('BEGIN CERTIFICATE');
  });

  test('keeps its password to itself', () => {
    const HTTPS_PROXY = 'http://somebody:pass%20word@proxy.example.net:3128';
    const settings = settingsOf({ DNS_SYNC_BASE_URL: secure, HTTPS_PROXY });
    expect(settings.clients[0]?.proxy?.shown).toBe('http://proxy.example.net:3128');
    expect(settings.secrets()).toEqual(
      expect.arrayContaining(['pass%20word', 'pass word', 'somebody:pass word']),
    );
  });
});
