import { once } from 'node:events';
import { request, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { HistoryQuery } from '../../../src/app/history.ts';
import type { RunningServer } from '../../../src/daemon/http/server.ts';
import { UserError } from '../../../src/errors.ts';
import { assembleReport } from '../../../src/report/assemble.ts';
import { reportSchema } from '../../../src/report/report.ts';
import { startTestServer, type TestOptions } from '../test-server.ts';

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const start = async (options: TestOptions = {}) => {
  const server = await startTestServer(options);
  running.push(server);
  return server;
};

interface Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

const get = (url: string, path: string, host?: string): Promise<Answer> =>
  ask(url, path, host === undefined ? {} : { host });

const ask = (url: string, path: string, headers: OutgoingHttpHeaders, method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request(new URL(path, url), { headers, method }, (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode, headers: response.headers, body }),
        reject,
      );
    })
      .on('error', reject)
      .end();
  });

describe('probes', () => {
  it.each([
    ['/livez', 200, 'ok\n'],
    ['/readyz', 200, '{"ready":true,"reason":null}'],
    ['/healthz', 200, '{"ready":true,"reason":null}'],
    ['/', 200, '<!doctype html><title>the page</title>'],
    ['/none', 404, 'Not found.\n'],
  ])('%s answers %i', async (path, status, body) => {
    const { url } = await start();
    expect(await get(url, path)).toMatchObject({ status, body });
  });

  it('answers a browser with a page that leads on', async () => {
    const { url } = await start();
    const answer = await fetch(new URL('/none', url), { headers: { accept: 'text/html,*/*' } });
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('<a href="./">')]);
  });

  it('tell why the program is not ready, which does not make it dead', async () => {
    let now: string | null = 'the service was not read yet';
    const { url } = await start({ unready: () => now });
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
    const { url } = await start();
    expect(await get(url, '/', host)).toMatchObject({ status });
  });

  it.each(['/livez', '/readyz', '/healthz', '/metrics'])('does not hold for %s', async (path) => {
    const { url } = await start();
    expect(await get(url, path, 'kubelet.example')).toMatchObject({ status: 200 });
  });
});

describe('the API', () => {
  it('returns the newest state as a report', async () => {
    const { url } = await start();
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
    const { url } = await start({ history });
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
    const { url } = await start({ history: () => expect.fail('not to be asked') });
    const { status, body } = await get(url, `/api/history?${query}`);
    expect([status, JSON.parse(body)]).toEqual([400, { error: expect.stringContaining(error) }]);
  });

  it.each(['/', '/events', '/api/report', '/api/history', '/api/reconcile'])(
    '%s is under the Host rule',
    async (path) => {
      const { url } = await start();
      expect(await get(url, path, 'evil.example.net')).toMatchObject({ status: 421 });
    },
  );
});

describe('asking for a pass', () => {
  const token = 'trigger tökén +1';
  /** As curl sends it: the bytes of UTF-8. */
  const bearer = (secret: string): string => `Bearer ${Buffer.from(secret).toString('latin1')}`;
  const post = (url: string, authorization?: string): Promise<Answer> =>
    ask(url, '/api/reconcile', authorization === undefined ? {} : { authorization }, 'POST');
  const startWith = async (triggerToken: () => string | null) => {
    let passes = 0;
    const server = await start({
      triggerToken,
      requestPass: () =>
        Promise.resolve({ kind: 'asked', passes: [{ client: 'acme', run: String((passes += 1)) }] }),
    });
    return { ...server, passes: () => passes };
  };

  it('starts one with the trigger token', async () => {
    const { url, passes } = await startWith(() => token);
    expect(await post(url, bearer(token))).toMatchObject({ status: 202 });
    expect(await post(url, bearer(token).replace('Bearer ', 'bearer  '))).toMatchObject({ status: 202 });
    expect(passes()).toBe(2);
  });

  it.each([
    ['no header', undefined],
    ['another token', bearer('trigger tökén +2')],
    ['more than the token', bearer(`${token}1`)],
    ['less than the token', bearer(token.slice(0, -1))],
    ['an empty token', 'Bearer '],
    ['no token', 'Bearer'],
    ['another scheme', `Basic ${bearer(token).slice(7)}`],
    ['the bare token', bearer(token).slice(7)],
  ])('is refused with %s', async (_, header) => {
    const { url, passes, lines } = await startWith(() => token);
    const { status, headers, body } = await post(url, header);
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect(body + JSON.stringify(lines)).not.toContain('tökén');
    expect(passes()).toBe(0);
  });

  it('follows a token that has changed', async () => {
    let now = token;
    const { url } = await startWith(() => now);
    now = 'another';
    expect(await post(url, bearer(token))).toMatchObject({ status: 401 });
    expect(await post(url, bearer('another'))).toMatchObject({ status: 202 });
  });

  it('does not exist without a trigger token', async () => {
    const { url, passes } = await startWith(() => null);
    for (const authorization of [undefined, bearer(''), bearer('null')])
      expect(await post(url, authorization)).toMatchObject({ status: 404, body: 'Not found.\n' });
    expect(passes()).toBe(0);
  });
});

describe('methods', () => {
  const paths = ['/', '/writes', '/livez', '/readyz', '/healthz', '/metrics', '/api/report', '/api/history'];

  it.each(paths)('HEAD of %s has the headers of GET and no body', async (path) => {
    const { url } = await start();
    const head = await ask(url, path, {}, 'HEAD');
    const { status, headers } = await get(url, path);
    expect(head).toMatchObject({ status, body: '' });
    expect(head.headers['content-type']).toBe(headers['content-type']);
  });

  it.each(paths.flatMap((path) => ['POST', 'PUT', 'DELETE', 'OPTIONS'].map((method) => [method, path])))(
    '%s of %s is not allowed',
    async (method, path) => {
      const { url } = await start();
      const { status, headers } = await ask(url, path, {}, method);
      expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
    },
  );

  it.each(['GET', 'HEAD', 'PUT'])('%s does not ask for a pass', async (method) => {
    const { url } = await start({ triggerToken: () => 'token' });
    const { status, headers } = await ask(url, '/api/reconcile', { authorization: 'Bearer token' }, method);
    expect([status, headers['allow']]).toEqual([405, 'POST']);
  });
});

describe('every answer', () => {
  it.each(['/livez', '/readyz', '/metrics', '/api/report', '/api/reconcile', '/', '/none'])(
    'to %s carries the security headers',
    async (path) => {
      const { url } = await start();
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
    const { url, lines } = await start({
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
    const { url } = await start();
    const { port, host } = new URL(url);
    const second = start({ listen: { host: '127.0.0.1', port: Number(port) } });
    await expect(second).rejects.toBeInstanceOf(UserError);
    await expect(second).rejects.toThrow(
      `cannot listen on ${host}: the address is in use already; choose another with --listen HOST:PORT, or --listen off`,
    );
  });

  it('accepts 500 connections, and closes more', async () => {
    const { url } = await start();
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
    const { url, close } = await start();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    const ended = new Promise((resolve) => socket.once('close', resolve).on('error', () => undefined));
    socket.write('GET /livez HTTP/1.1\r\n');
    await close();
    await ended;
    await expect(get(url, '/livez')).rejects.toThrow('ECONNREFUSED');
  });
});
