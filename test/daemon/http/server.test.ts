import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HistoryQuery } from '../../../src/app/history.ts';
import { UserError } from '../../../src/errors.ts';
import { assembleReport } from '../../../src/report/assemble.ts';
import { reportSchema } from '../../../src/report-schema.ts';
import { bearer, send, startTestServer } from '../test-server.ts';

const get = (url: string, path: string, host?: string) => send(url, path, host === undefined ? {} : { host });

describe('probes', () => {
  it.each([
    ['/livez', 200, 'ok\n'],
    ['/readyz', 200, '{"ready":true,"reason":null}'],
    ['/healthz', 200, '{"ready":true,"reason":null}'],
    ['/', 200, '<!doctype html><title>the page</title>'],
    ['/none', 404, 'Not found.\n'],
  ])('%s answers %i', async (path, status, body) => {
    const { url } = await startTestServer();
    expect(await get(url, path)).toMatchObject({ status, body });
  });

  it('answers a browser with a page that leads on', async () => {
    const { url } = await startTestServer();
    const answer = await fetch(new URL('/none', url), { headers: { accept: 'text/html,*/*' } });
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('<a href="./">')]);
  });

  it('tell why the program is not ready, which does not make it dead', async () => {
    let now: string | null = 'the service was not read yet';
    const { url } = await startTestServer({ unready: () => now });
    expect(await get(url, '/readyz')).toMatchObject({
      status: 503,
      body: '{"ready":false,"reason":"the service was not read yet"}',
    });
    expect(await get(url, '/healthz')).toMatchObject({ status: 503 });
    expect(await get(url, '/livez')).toMatchObject({ status: 200 });
    now = null;
    expect(await get(url, '/readyz')).toMatchObject({ status: 200 });
  });
});

describe('the Host rule', () => {
  it.each([
    ['127.0.0.1:8053', 200],
    ['10.1.2.3', 200],
    ['[::1]:8053', 200],
    ['localhost', 200],
    ['LocalHost:8053', 200],
    ['dns.example.net', 200],
    ['DNS.Example.NET:8053', 200],
    ['evil.example.net', 421],
    ['localhost.evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['dns.example.net.evil.example', 421],
    ['evil-dns.example.net', 421],
  ])('lets %s come to %i', async (host, status) => {
    const { url } = await startTestServer();
    expect(await get(url, '/', host)).toMatchObject({ status });
  });

  it.each(['/livez', '/readyz', '/healthz', '/metrics'])('does not hold for %s', async (path) => {
    const { url } = await startTestServer();
    expect(await get(url, path, 'kubelet.example')).toMatchObject({ status: 200 });
  });
});

describe('the API', () => {
  it('returns the newest state as a report', async () => {
    const { url } = await startTestServer();
    const { status, headers, body } = await get(url, '/api/report');
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(reportSchema.parse(JSON.parse(body))).toEqual(assembleReport([]));
  });

  it('returns the past writes that the filters select', async () => {
    const asked: HistoryQuery[] = [];
    const history = (query: HistoryQuery) => {
      asked.push(query);
      return Promise.resolve([{ template: 'web' }]);
    };
    const { url } = await startTestServer({ history });
    expect(await get(url, '/api/history')).toMatchObject({ status: 200, body: '[{"template":"web"}]' });
    await get(url, '/api/history?template=web&template=a%20b&since=2026-11-20T20:00:00Z&outcome=unknown');
    const all = { templates: [], since: 0, outcome: null, limit: 1_000 };
    expect(asked).toEqual([
      all,
      { ...all, templates: ['web', 'a b'], since: Date.parse('2026-11-20T20:00:00Z'), outcome: 'unknown' },
    ]);
  });

  it.each([
    ['since=yesterday', 'since: expected a duration such as 2d'],
    ['outcome=lost', 'outcome: expected one of applied, failed, unknown, duplicate'],
    ['client=acme', 'unknown filter, expected template, since, outcome'],
    ['limit=5', 'unknown filter, expected template, since, outcome'],
  ])('says what is wrong with the filter %s', async (query, error) => {
    const { url } = await startTestServer({ history: () => expect.fail('not to be asked') });
    const { status, body } = await get(url, `/api/history?${query}`);
    expect([status, JSON.parse(body)]).toEqual([400, { error: expect.stringContaining(error) }]);
  });

  it.each(['/', '/events', '/api/report', '/api/history', '/api/reconcile'])(
    '%s is under the Host rule',
    async (path) => {
      const { url } = await startTestServer();
      expect(await get(url, path, 'evil.example.net')).toMatchObject({ status: 421 });
    },
  );
});

describe('asking for a pass', () => {
  const token = 'trigger tökén +1';
  const sent = bearer(token).authorization;
  const post = (url: string, authorization?: string) =>
    send(url, '/api/reconcile', authorization === undefined ? {} : { authorization }, 'POST');
  const startWith = async (triggerToken: () => string | null) => {
    let passes = 0;
    const server = await startTestServer({
      triggerToken,
      requestPass: () =>
        Promise.resolve({ kind: 'asked', passes: [{ client: 'acme', run: String((passes += 1)) }] }),
    });
    return { ...server, passes: () => passes };
  };

  it.each([
    ['the trigger token', sent, 202],
    ['it in other words', sent.replace('Bearer ', 'bearer  '), 202],
    ['no header', undefined, 401],
    ['another token', bearer('trigger tökén +2').authorization, 401],
    ['more than the token', `${sent}1`, 401],
    ['less than the token', sent.slice(0, -1), 401],
    ['an empty token', 'Bearer ', 401],
    ['no token', 'Bearer', 401],
    ['another scheme', sent.replace('Bearer', 'Basic'), 401],
    ['the bare token', sent.slice(7), 401],
  ])('with %s', async (_, header, status) => {
    const { url, passes, lines } = await startWith(() => token);
    const answer = await post(url, header);
    expect([answer.status, passes()]).toEqual([status, status === 202 ? 1 : 0]);
    expect(answer.headers['www-authenticate']).toBe(status === 202 ? undefined : 'Bearer');
    expect(answer.body + JSON.stringify(lines)).not.toContain('tökén');
  });

  it('follows a token that has changed', async () => {
    let now = token;
    const { url } = await startWith(() => now);
    now = 'another';
    expect(await post(url, sent)).toMatchObject({ status: 401 });
    expect(await post(url, bearer('another').authorization)).toMatchObject({ status: 202 });
  });
});

describe('methods', () => {
  const paths = ['/', '/writes', '/livez', '/readyz', '/healthz', '/metrics', '/api/report', '/api/history'];

  it.each(paths)('HEAD of %s has the headers of GET and no body', async (path) => {
    const { url } = await startTestServer();
    const head = await send(url, path, {}, 'HEAD');
    const { status, headers } = await get(url, path);
    expect(head).toMatchObject({ status, body: '' });
    expect(head.headers['content-type']).toBe(headers['content-type']);
  });

  it.each(paths.flatMap((path) => ['POST', 'PUT', 'DELETE', 'OPTIONS'].map((method) => [method, path])))(
    '%s of %s is not allowed',
    async (method, path) => {
      const { url } = await startTestServer();
      const { status, headers } = await send(url, path, {}, method);
      expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
    },
  );

  it.each(['GET', 'HEAD', 'PUT'])('%s does not ask for a pass', async (method) => {
    const { url } = await startTestServer({ triggerToken: () => 'token' });
    const { status, headers } = await send(url, '/api/reconcile', { authorization: 'Bearer token' }, method);
    expect([status, headers['allow']]).toEqual([405, 'POST']);
  });
});

describe('every answer', () => {
  it.each(['/livez', '/readyz', '/metrics', '/api/report', '/api/reconcile', '/', '/none'])(
    'to %s carries the security headers',
    async (path) => {
      const { url } = await startTestServer();
      const { headers } = await get(url, path, path === '/none' ? 'evil.example' : undefined);
      expect(headers).toMatchObject({
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'x-content-type-options': 'nosniff',
        // The forms of the page need their origin.
        'referrer-policy': path === '/' ? 'same-origin' : 'no-referrer',
        'cache-control': 'no-store',
      });
    },
  );

  it('to a failing request hides the error, which is logged', async () => {
    const { url, lines } = await startTestServer({
      unready: () => {
        throw new Error('deep inside');
      },
    });
    const { status, headers, body } = await get(url, '/readyz');
    expect([status, body]).toEqual([500, 'Internal error.\n']);
    expect(headers).toHaveProperty('x-frame-options', 'DENY');
    expect(lines).toEqual([
      expect.objectContaining({ err: expect.objectContaining({ message: 'deep inside' }) }),
    ]);
  });
});

describe('listening', () => {
  it('on a port in use is an error that says what to do', async () => {
    const { url } = await startTestServer();
    const { port, host } = new URL(url);
    const second = startTestServer({ listen: { host: '127.0.0.1', port: Number(port) } });
    await expect(second).rejects.toBeInstanceOf(UserError);
    await expect(second).rejects.toThrow(
      `cannot listen on ${host}: the address is in use already; choose another with --listen HOST:PORT, or --listen off`,
    );
  });

  it('accepts 500 connections, and closes more', async () => {
    const { url } = await startTestServer();
    const open = Array.from({ length: 500 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
    onTestFinished(() => open.forEach((socket) => socket.on('error', () => undefined).destroy()));
    await Promise.all(open.map((socket) => once(socket, 'connect')));
    const extra = connect(Number(new URL(url).port), '127.0.0.1');
    await new Promise((resolve) => extra.on('error', () => undefined).once('close', resolve));
    const [first] = open;
    first!.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(String((await once(first!, 'data'))[0])).toContain('ok\n');
  });

  it('ends although connections are open', async () => {
    const { url, close } = await startTestServer();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    const ended = new Promise((resolve) => socket.once('close', resolve).on('error', () => undefined));
    socket.write('GET /livez HTTP/1.1\r\n');
    await close();
    await ended;
    await expect(get(url, '/livez')).rejects.toThrow('ECONNREFUSED');
  });
});
