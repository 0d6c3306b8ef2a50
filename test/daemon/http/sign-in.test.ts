import type { OutgoingHttpHeaders } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PageRefusal } from '../../../src/daemon/http/sign-in.ts';
import type { Suspension, Suspensions } from '../../../src/model/suspension.ts';
import type { Reader } from '../../../src/status-page/facts.ts';
import { bearer, send, startTestServer, type Answer, type TestOptions } from '../test-server.ts';

const triggerToken = 'trigger tökén +1234';
const pageToken = 'the page token 5678';

const cookieOf = ({ headers }: Answer): string => String(headers['set-cookie']).split(';')[0] ?? '';

/** A server on which somebody can act, what was done, and who saw the page. */
const start = async (options: TestOptions = {}) => {
  const done: unknown[] = [];
  const refused: PageRefusal[] = [];
  const readers: Reader[] = [];
  const suspended = new Set<string>();
  const ofClient: Suspension[] = [];
  const server = await startTestServer({
    triggerToken: () => triggerToken,
    requestPass: (clients) => {
      done.push({ sync: clients.join() });
      return Promise.resolve({ kind: 'asked', passes: [] });
    },
    suspending: async (client, template, task) => {
      const one = { template, templateId: null };
      const saved = { ...one, reason: '', by: '', since: storeNow, until: null };
      const suspensions: Suspensions = {
        suspensions: () => Promise.resolve(ofClient),
        suspend: ({ by, reason, duration }) => {
          done.push({ suspend: `${client} ${template}`, by, reason, duration });
          suspended.add(template);
          return Promise.resolve([{ ...saved, until: duration && storeNow + duration }]);
        },
        resume: () => {
          done.push({ resume: `${client} ${template}` });
          return Promise.resolve(suspended.delete(template) ? [saved] : []);
        },
      };
      return template === 'web' ? task(one, suspensions) : null;
    },
    pages: {
      overview: ({ reader }) => {
        readers.push(reader);
        return Promise.resolve('page');
      },
      template: () => null,
      report: () => Promise.resolve('{}'),
      writes: () => Promise.resolve('writes'),
    },
    onRefused: (refusal) => void refused.push(refusal),
    ...options,
  });
  const { origin } = new URL(server.url);
  const post = (path: string, fields: Record<string, string>, headers: OutgoingHttpHeaders = {}) =>
    send(
      server.url,
      path,
      { 'content-type': 'application/x-www-form-urlencoded', origin, ...headers },
      'POST',
      new URLSearchParams(fields).toString(),
    );
  const ask = (path: string, headers?: OutgoingHttpHeaders) => send(server.url, path, headers);
  const signIn = (token: string, headers: OutgoingHttpHeaders = {}, name = 'Anna Example') =>
    post('/sign-in', { token, name, next: 'templates/web' }, headers);
  /** Of somebody who has signed in with the trigger token. */
  const actor = async () => ({ cookie: cookieOf(await signIn(triggerToken)) });
  const readerWith = async (headers: OutgoingHttpHeaders): Promise<Reader | undefined> => {
    await ask('/', headers);
    return readers.at(-1);
  };
  return { ...server, origin, post, ask, signIn, actor, readerWith, done, refused, ofClient };
};

/** The clock of the store is ahead. */
const storeNow = Date.parse('2036-11-20T20:00:00Z');

const target = { client: 'acme', template: 'web' };
const browser = { accept: 'text/html,*/*' };
const both = { pageToken: () => pageToken };

describe('who has signed in with the trigger token', () => {
  it('asks for a pass, suspends and resumes, and comes back to the page, which is told what was done', async () => {
    const { post, actor, done, refused, lines } = await start();
    const headers = await actor();
    const next = 'clients/acme/templates/web';
    for (const [action, fields, did] of [
      ['sync', {}, 'sync'],
      ['sync', { client: 'acme' }, 'sync'],
      ['suspend', { ...target, reason: ' Moving ', duration: '8h' }, 'suspend'],
      ['suspend', { ...target, reason: 'Moving', duration: '' }, 'suspend'],
      ['resume', target, 'resume'],
      ['resume', target, 'nothing'],
    ] as const) {
      const answer = await post(`/act/${action}`, { next, ...fields }, headers);
      expect([answer.status, answer.headers['location']]).toEqual([303, `../${next}?did=${did}`]);
    }
    const by = 'Anna Example (on the page)';
    const suspended = (duration: number | null) => ({ suspend: 'acme web', by, reason: 'Moving', duration });
    // What is suspended or resumed is shown by a pass.
    expect(done).toEqual([
      { sync: '' },
      { sync: 'acme' },
      ...[suspended(28_800_000), suspended(null), { resume: 'acme web' }, { resume: 'acme web' }].flatMap(
        (one) => [one, { sync: 'acme' }],
      ),
    ]);
    expect(refused).toEqual([]);
    expect(lines.map((line) => [line['event'], line['by'], line['action']])).toEqual(
      ['sync', 'sync', 'suspend', 'suspend', 'resume', 'resume'].map((action) => ['page.action', by, action]),
    );
    expect(JSON.stringify(lines)).not.toContain('tökén');
  });

  it('hears that what it resumes stays suspended while all of the client is', async () => {
    const { post, actor, ofClient } = await start();
    const all = {
      template: null,
      templateId: null,
      reason: 'audit',
      by: 'ana',
      since: storeNow,
      until: null,
    };
    ofClient.push(all);
    const { headers } = await post('/act/resume', { next: '', ...target }, await actor());
    expect(headers['location']).toBe('../?did=stays');
  });

  it.each([
    ['suspend', { ...target, reason: ' ', duration: '1h' }, 400],
    ['suspend', { ...target, reason: 'x', duration: 'for ever' }, 400],
    ['suspend', { ...target, reason: 'x', duration: '1001d' }, 400],
    ['suspend', { client: 'acme', template: 'gone', reason: 'x', duration: '1h' }, 404],
    ['resume', { client: 'acme', template: 'gone' }, 404],
    ['resume', { client: 'acme' }, 400],
  ])('is told what is wrong with %s %j', async (action, fields, expected) => {
    const { post, actor, lines } = await start();
    const { status, body } = await post(`/act/${action}`, fields, await actor());
    expect([status, body, lines]).toEqual([expected, expect.stringContaining('Nothing was done'), []]);
  });

  it('may put no secret where everybody would see it, and is not shown it again', async () => {
    const redact = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('token-of-acme', '***'));
    const { post, signIn, actor, done, lines } = await start({ redact });
    const reason = 'with token-of-acme';
    const suspended = await post('/act/suspend', { ...target, reason, duration: '1h' }, await actor());
    expect(suspended.body).toContain('it holds a token or another secret, and everybody would see it');
    const named = await signIn(triggerToken, {}, 'token-of-acme');
    expect([suspended.status, named.status, done]).toEqual([400, 400, []]);
    expect(JSON.stringify([suspended.body, named, lines])).not.toContain('token-of-acme');
    // Nor is a name anything but one.
    for (const name of ['Anna\nB', '', 'x'.repeat(61), '<b>', 'root (on the page)'])
      expect((await signIn(triggerToken, {}, name)).status).toBe(400);
  });

  it('is told when the queue takes no pass, but a suspension is stored before', async () => {
    const { post, actor } = await start({ requestPass: () => Promise.resolve({ kind: 'unsure' }) });
    const headers = await actor();
    expect((await post('/act/sync', {}, headers)).status).toBe(503);
    expect((await post('/act/suspend', { ...target, reason: 'x' }, headers)).status).toBe(303);
  });
});

describe('a session', () => {
  it.each([triggerToken, pageToken])(
    'ends by signing out, for every copy of its cookie: %s',
    async (token) => {
      const { post, ask, signIn } = await start(both);
      const cookie = cookieOf(await signIn(token));
      const other = cookieOf(await signIn(token));
      expect((await ask('/', { cookie })).status).toBe(200);
      const out = await post('/sign-out', { next: '?show=held' }, { cookie });
      expect([out.status, out.headers['location']]).toEqual([303, './?show=held']);
      expect(String(out.headers['set-cookie'])).toMatch(/^dns-template-sync=; Max-Age=0/);
      expect((await ask('/', { cookie })).status).toBe(401);
      expect((await post('/act/sync', {}, { cookie })).status).toBe(403);
      expect((await ask('/', { cookie: other })).status).toBe(200);
    },
  );

  it('ends when the token changes, and after a week, and cannot be forged', async () => {
    let now = pageToken;
    const { ask, signIn } = await start({ pageToken: () => now });
    const cookie = cookieOf(await signIn(pageToken));
    const statusWith = async (sent: string) => (await ask('/', { cookie: sent })).status;
    expect(await statusWith(cookie)).toBe(200);
    expect(await statusWith(cookie.replace(/\.(\d+)\./, (_, ends) => `.${Number(ends) + 1}.`))).toBe(401);
    expect(await statusWith(cookie.replace('=read', '=act'))).toBe(401);
    now = 'another page token';
    expect(await statusWith(cookie)).toBe(401);
    now = pageToken;
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await statusWith(cookie)).toBe(401);
  });

  it('is a cookie that other sites do not send, for TLS alone where there is some, without the token', async () => {
    const { signIn } = await start();
    const { headers, body } = await signIn(triggerToken);
    expect(String(headers['set-cookie'])).toMatch(/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    expect(decodeURIComponent(JSON.stringify(headers)) + body).not.toContain('tökén');
    const behindTls = await signIn(triggerToken, { 'x-forwarded-proto': 'https' });
    const named = await start({ publicUrl: () => 'https://dns.example.net/sync' });
    for (const answer of [behindTls, await named.signIn(triggerToken)])
      expect(String(answer.headers['set-cookie'])).toContain('; Secure;');
  });

  it('that does not come with a link from elsewhere is asked for once more by our own page', async () => {
    const { ask } = await start(both);
    for (const site of ['cross-site', 'same-origin', 'none']) {
      const { body } = await ask('/', { ...browser, 'sec-fetch-site': site });
      expect([site, body.includes('http-equiv="refresh"')]).toEqual([site, site === 'cross-site']);
    }
  });
});

describe('a hostile page', () => {
  it.each<[string, OutgoingHttpHeaders]>([
    ['another site', { origin: 'https://evil.example' }],
    ['another port of this machine, which is the same site', { origin: 'http://127.0.0.1:1' }],
    ['another scheme', { origin: 'null' }],
    ['a browser that says nothing of the origin', { origin: '' }],
    ['a page that the browser calls cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['a page that the browser calls same-site', { 'sec-fetch-site': 'same-site' }],
    ['elsewhere by JSON', { 'content-type': 'application/json', origin: 'https://evil.example' }],
  ])('cannot act from %s, even with the cookie', async (_, headers) => {
    const { post, actor, done, refused } = await start();
    const sent = { ...headers, ...(await actor()) };
    for (const action of ['act/sync', 'act/suspend', 'act/resume', 'sign-out', 'sign-in'])
      expect((await post(`/${action}`, { ...target, reason: 'x', token: triggerToken }, sent)).status).toBe(
        403,
      );
    expect(done).toEqual([]);
    expect(refused.map(({ reason }) => reason)).toEqual(Array(5).fill('foreign'));
  });

  it('cannot act by another method, nor show the page in a frame', async () => {
    const { ask, url, actor, done } = await start();
    const headers = await actor();
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'])
      for (const action of ['act/sync', 'act/suspend', 'act/resume', 'sign-out'])
        expect((await send(url, `/${action}?client=acme&template=web`, headers, method)).status).toBe(405);
    expect(done).toEqual([]);
    for (const path of ['/', '/sign-in'])
      expect((await ask(path)).headers).toMatchObject({
        'x-frame-options': 'DENY',
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      });
  });
});

it('behind a proxy that changes the Host, publicUrl or the browser says that a form is ours', async () => {
  const elsewhere = { host: '127.0.0.1', origin: 'https://dns.example.net' };
  const [named, plain] = [await start({ publicUrl: () => 'https://dns.example.net/sync' }), await start()];
  const cases = [
    [named, {}, 303],
    [named, { origin: 'http://dns.example.net' }, 403],
    [plain, {}, 403],
    [plain, { 'sec-fetch-site': 'same-origin' }, 303],
  ] as const;
  for (const [{ signIn }, headers, status] of cases)
    expect((await signIn(triggerToken, { ...elsewhere, ...headers })).status).toBe(status);
});

describe('who signs in', () => {
  it.each([
    ['', './'],
    ['?show=blocked&q=www', './'],
    ['clients/acme/templates/a%2Fb', '../../../'],
    ['writes', './'],
  ])('comes to the page that was asked for: %j', async (page, root) => {
    const { ask, post } = await start(both);
    const { body } = await ask(`/${page}`, browser);
    expect(body).toContain(`name="next" value="${page.replace('&', '&#38;')}"`);
    expect(body).toContain(`action="${root}sign-in"`);
    const { headers } = await post('/sign-in', { token: pageToken, next: page });
    expect(headers['location']).toBe(`./${page}`);
  });

  it('comes to no page of somebody else', async () => {
    const { post } = await start(both);
    const next = ['//evil.example', '/\\evil.example', 'https://evil.example/', 'templates/\r\nx: y', '../x'];
    for (const hostile of [...next, 'sign-in'])
      expect((await post('/sign-in', { token: pageToken, next: hostile })).headers['location']).toBe('./');
  });
});

describe('who may do what', () => {
  const table = `
with both tokens       nobody  wrong  page  trigger  page cookie  trigger cookie
GET /                  401     401    200   200      200          200
GET /writes            401     401    200   200      200          200
GET /events            401     401    200   200      200          200
GET /api/report        401     401    200   200      200          200
GET /api/history       401     401    200   200      200          200
GET /api/fleet         401     401    200   200      200          200
GET /none              401     401    404   404      404          404
GET /sign-in           200     200    200   200      200          200
GET /livez             200     200    200   200      200          200
GET /readyz            200     200    200   200      200          200
GET /healthz           200     200    200   200      200          200
GET /metrics           200     200    200   200      200          200
POST /api/reconcile    401     401    401   202      401          401
POST /act/sync         403     403    403   403      403          303

with a trigger token   nobody  wrong  trigger  trigger cookie
GET /                  200     200    200      200
GET /sign-in           200     200    200      200
POST /api/reconcile    401     401    202      401
POST /act/sync         403     403    403      303

with one for both      nobody  wrong  trigger  trigger cookie
GET /                  401     401    200      200
POST /api/reconcile    401     401    202      401
POST /act/sync         404     404    404      404

without tokens         nobody  wrong
GET /                  200     200
GET /sign-in           404     404
POST /sign-in          404     404
POST /api/reconcile    404     404
POST /act/sync         404     404
`;
  const settings: Readonly<Record<string, TestOptions>> = {
    'with both tokens': both,
    'with a trigger token': {},
    'with one for both': { pageToken: () => triggerToken },
    'without tokens': { triggerToken: () => null },
  };

  it.each(
    table
      .trim()
      .split('\n\n')
      .map((block) => block.split('\n').map((line) => line.split(/ {2,}/))),
  )('%o', async ([title = '', ...readers] = [], ...rows) => {
    const { ask, post, signIn, done } = await start(settings[title]);
    const cookie = async (token: string) => ({ cookie: cookieOf(await signIn(token)) });
    const headersOf = new Map<string, OutgoingHttpHeaders>([
      ['nobody', {}],
      ['wrong', bearer(pageToken.slice(1))],
      ['page', bearer(pageToken)],
      ['trigger', bearer(triggerToken)],
      ['page cookie', await cookie(pageToken)],
      ['trigger cookie', await cookie(triggerToken)],
    ]);
    for (const [request = '', ...statuses] of rows) {
      const [method, path = ''] = request.split(' ');
      const found: string[] = [];
      for (const reader of readers) {
        const headers = headersOf.get(reader);
        const answer = await (method === 'GET' ? ask(path, headers) : post(path, {}, headers));
        found.push(String(answer.status));
      }
      expect([request, ...found]).toEqual([request, ...statuses]);
    }
    // By the bearer and by the cookie.
    expect(done).toHaveLength(rows.flat().filter((status) => status === '202' || status === '303').length);
  });

  it('is said to readers', async () => {
    const { actor, signIn, readerWith } = await start(both);
    expect(await readerWith(await actor())).toEqual({ role: 'act', canAct: true });
    const cookie = cookieOf(await signIn(pageToken));
    expect(await readerWith({ cookie })).toEqual({ role: 'read', canAct: true });
    const open = await start({ triggerToken: () => null });
    expect(await open.readerWith({})).toEqual({ role: null, canAct: false });
  });

  it('is asked for as a bearer, or by signing in, which is no failed attempt of a browser', async () => {
    const { ask, refused } = await start(both);
    const { headers, body } = await ask('/');
    expect(headers['www-authenticate']).toBe('Bearer');
    expect(body).toBe('Needs the page token as a bearer token, or a sign-in.\n');
    await ask('/', bearer(pageToken.slice(1)));
    const offered = await ask('/', browser);
    expect(offered.status).toBe(401);
    expect(offered.headers['content-security-policy']).toContain("form-action 'self'");
    expect(offered.body).toContain('<code>pageToken</code> shows the pages.');
    expect(refused.map(({ token, reason }) => `${token} ${reason}`)).toEqual(['page missing', 'page wrong']);
  });

  it.each([
    [401, 'another token', pageToken.slice(1)],
    [401, 'no token', ''],
    [413, 'more than a form of ours has', '5678'.repeat(2_500)],
  ])('is answered with %i for a form with %s, of which nothing is shown', async (expected, _, token) => {
    const { signIn, refused, lines } = await start(both);
    const { status, headers, body } = await signIn(token);
    expect([status, headers['set-cookie']]).toEqual([expected, undefined]);
    expect(body + JSON.stringify(lines)).not.toContain('5678');
    expect(refused).toHaveLength(expected === 401 ? 1 : 0);
  });
});
