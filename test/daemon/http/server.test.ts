import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { HistoryQuery } from '../../../src/app/history.ts';
import { bearer, send, startTestServer } from '../test-server.ts';

/** Paths, a Host, and the status of the answer: only who reaches a page under a known name may see it. */
const hosts = `
/livez /readyz /healthz /metrics                          kubelet.example                200
/ /writes /events /api/report /api/history                127.0.0.1:8053                 200
/                                                         10.1.2.3                       200
/                                                         [::1]:8053                     200
/                                                         LocalHost:8053                 200
/                                                         DNS.Example.NET:8053           200
/none                                                     localhost                      404
/ /events /api/report /api/history /api/reconcile /none   evil.example.net               421
/                                                         localhost.evil.example         421
/                                                         127.0.0.1.evil.example         421
/                                                         dns.example.net.evil.example   421
/                                                         evil-dns.example.net           421
`;

it('a foreign name leads to nothing but probes and metrics', async () => {
  const { url } = await startTestServer();
  for (const line of hosts.trim().split('\n')) {
    const [paths = '', host = '', status] = line.split(/ {2,}/);
    for (const path of paths.split(' ')) {
      const answer = await send(url, path, { host });
      expect([path, host, answer.status]).toEqual([path, host, Number(status)]);
      expect(answer.headers).toMatchObject({
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
    }
  }
});

it('a browser that is lost is led on', async () => {
  const { url } = await startTestServer();
  const { status, body } = await send(url, '/none', { accept: 'text/html,*/*' });
  expect([status, body]).toEqual([404, expect.stringContaining('<a href="./">')]);
});

it('probes tell why the program is not ready, which does not make it dead', async () => {
  let now: string | null = 'the service was not read yet';
  const { url } = await startTestServer({ unready: () => now });
  const body = '{"ready":false,"reason":"the service was not read yet"}';
  for (const path of ['/readyz', '/healthz'])
    expect(await send(url, path)).toMatchObject({ status: 503, body });
  expect(await send(url, '/livez')).toMatchObject({ status: 200, body: 'ok\n' });
  now = null;
  expect(await send(url, '/readyz')).toMatchObject({ status: 200, body: '{"ready":true,"reason":null}' });
});

const pages = ['/', '/writes', '/livez', '/readyz', '/healthz', '/metrics', '/api/report', '/api/history'];

it.each(pages)('%s is read by GET and HEAD alone', async (path) => {
  const { url } = await startTestServer();
  const { status, headers } = await send(url, path);
  expect(await send(url, path, {}, 'HEAD')).toMatchObject({
    status,
    body: '',
    headers: { 'content-type': headers['content-type'] },
  });
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expect(await send(url, path, {}, method)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
});

describe('the API', () => {
  it('returns the past writes that the filters select', async () => {
    const asked: HistoryQuery[] = [];
    const { url } = await startTestServer({
      history: async (query) => (asked.push(query) > 0 ? [{ template: 'web' }] : []),
    });
    expect(await send(url, '/api/history')).toMatchObject({ status: 200, body: '[{"template":"web"}]' });
    await send(url, '/api/history?template=web&template=a%20b&since=2026-11-20T20:00:00Z&outcome=unknown');
    const since = Date.parse('2026-11-20T20:00:00Z');
    expect(asked).toEqual([
      { templates: [], since: 0, outcome: null, limit: 1_000 },
      { templates: ['web', 'a b'], since, outcome: 'unknown', limit: 1_000 },
    ]);
  });

  it.each([
    ['since=yesterday', 'since: expected a duration such as 2d'],
    ['outcome=lost', 'outcome: expected one of applied, failed, unknown, duplicate'],
    ['client=acme', 'unknown filter, expected template, since, outcome'],
  ])('says what is wrong with the filter %s', async (query, error) => {
    const { url } = await startTestServer({ history: () => expect.fail('not to be asked') });
    const { status, body } = await send(url, `/api/history?${query}`);
    expect([status, JSON.parse(body)]).toEqual([400, { error: expect.stringContaining(error) }]);
  });

  it('starts a pass for who has the trigger token, which may change', async () => {
    let [token, passes] = ['trigger tökén +1', 0];
    const { url, lines } = await startTestServer({
      triggerToken: () => token,
      requestPass: async () => ({ kind: 'asked', passes: [{ client: 'acme', run: `${(passes += 1)}` }] }),
    });
    const post = (authorization?: string, method = 'POST') =>
      send(url, '/api/reconcile', authorization === undefined ? {} : { authorization }, method);
    const right = bearer(token).authorization;
    for (const given of [right, right.replace('Bearer ', 'bearer  ')])
      expect(await post(given)).toMatchObject({ status: 202 });
    const bare = right.slice(7);
    const wrong = [undefined, `${right}1`, right.slice(0, -1), 'Bearer ', 'Bearer', `Basic ${bare}`, bare];
    for (const given of wrong) {
      const { status, headers, body } = await post(given);
      expect([given, status, headers['www-authenticate']]).toEqual([given, 401, 'Bearer']);
      expect(body + JSON.stringify(lines)).not.toContain('tökén');
    }
    for (const method of ['GET', 'HEAD', 'PUT'])
      expect(await post(right, method)).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    expect(passes).toBe(2);
    token = 'another';
    expect(await post(right)).toMatchObject({ status: 401 });
  });
});

it('a failing request hides the error, which is logged', async () => {
  const { url, lines } = await startTestServer({
    unready: () => {
      throw new Error('deep inside');
    },
  });
  const headers = { 'x-frame-options': 'DENY' };
  expect(await send(url, '/readyz')).toMatchObject({ status: 500, body: 'Internal error.\n', headers });
  expect(lines).toMatchObject([{ err: { message: 'deep inside' } }]);
});

describe('listening', () => {
  const connected = async (url: string): Promise<Socket> => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };

  it('on a port in use is an error that says what to do', async () => {
    const { url } = await startTestServer();
    const { port, host } = new URL(url);
    await expect(startTestServer({ listen: { host: '127.0.0.1', port: Number(port) } })).rejects.toThrow(
      `cannot listen on ${host}: the address is in use already; choose another with --listen HOST:PORT, or --listen off`,
    );
  });

  it('lets go of who takes nothing of an answer: 500 of those would leave no connection for probes', async () => {
    const text = 'x'.repeat(16 * 1024 ** 2);
    const metrics = { contentType: 'text/plain', text: () => Promise.resolve(text) };
    const { url } = await startTestServer({ metrics, patience: 200 });
    const socket = await connected(url);
    socket.pause().write('GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    let received = 0;
    socket.on('data', ({ length }: Buffer) => (received += length)).resume();
    await once(socket, 'close');
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThan(text.length);
  });

  it('does not make the metrics for each who asks for them in one go', async () => {
    let made = 0;
    const text = () => Promise.resolve(`made ${(made += 1)}\n`);
    const { url } = await startTestServer({ metrics: { contentType: 'text/plain', text } });
    const ask = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    expect(made).toBeLessThan(50);
    await vi.waitFor(async () => expect(answers).not.toContain(await ask()));
  });

  it('takes no note of who goes before a form is whole, but that there was no token', async () => {
    const refused: unknown[] = [];
    const { url, lines } = await startTestServer({
      pageToken: () => 'a token of the page',
      onRefused: (refusal) => void refused.push(refusal),
    });
    const socket = await connected(url);
    const headers = 'Host: localhost\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 9\r\n';
    socket.end(`POST /sign-in HTTP/1.1\r\n${headers}\r\ntoken`);
    await vi.waitFor(() => expect(refused.length + lines.length).toBe(1));
    expect([refused, lines]).toMatchObject([[{ token: 'page', reason: 'wrong' }], []]);
  });

  it('says once that a token cannot be read, however often somebody asks', async () => {
    let isThere = true;
    const { url, lines } = await startTestServer({
      pageToken: () => (isThere ? 'a token of the page' : expect.fail('no such file')),
    });
    isThere = false;
    for (let asked = 0; asked < 3; asked += 1)
      expect(await send(url, '/')).toMatchObject({ status: 500, body: 'Internal error.\n' });
    expect(lines).toMatchObject([{ event: 'request.failed', err: { message: 'no such file' } }]);
  });

  it('accepts 500 connections, closes more, and ends although they are open', async () => {
    const { url, close } = await startTestServer();
    const open = await Promise.all(Array.from({ length: 500 }, () => connected(url)));
    await once(await connected(url), 'close');
    open[0]!.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(String((await once(open[0]!, 'data'))[0])).toContain('ok\n');
    const ended = Promise.all(open.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    await close();
    await ended;
    await expect(send(url, '/livez')).rejects.toThrow('ECONNREFUSED');
  });
});
