import type { OutgoingHttpHeaders } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PageRefusal } from '../../../src/daemon/http/sign-in.ts';
import type { Suspensions } from '../../../src/model/suspension.ts';
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
  const server = await startTestServer({
    triggerToken: () => triggerToken,
    requestPass: (clients) => {
      done.push(['sync', ...clients]);
      return Promise.resolve({ kind: 'asked', passes: [] });
    },
    suspending: async (client, template, task) => {
      const one = { template, templateId: null };
      const saved = { ...one, reason: '', by: '', since: storeNow };
      const suspensions: Suspensions = {
        suspensions: () => Promise.resolve([]),
        suspend: ({ by, reason, duration }) => {
          const how = { by, reason, duration };
          done.push(['suspend', client, template, how]);
          suspended.add(template);
          return Promise.resolve([{ ...saved, until: how.duration && storeNow + how.duration }]);
        },
        resume: () => {
          done.push(['resume', client, template]);
          return Promise.resolve(suspended.delete(template) ? [{ ...saved, until: null }] : []);
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
  return { ...server, origin, post, ask, signIn, actor, readerWith, done, refused };
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
      expect([answer.status, answer.headers['location']]).toEqual([
        303,
        expect.stringMatching(new RegExp(`^\\.\\./${next}\\?did=${did}$`)),
      ]);
    }
    const by = 'Anna Example (on the page)';
    expect(done).toEqual([
      ['sync'],
      ['sync', 'acme'],
      ['suspend', 'acme', 'web', { by, reason: 'Moving', duration: 28_800_000 }],
      ['sync', 'acme'],
      ['suspend', 'acme', 'web', { by, reason: 'Moving', duration: null }],
      ['sync', 'acme'],
      ['resume', 'acme', 'web'],
      ['sync', 'acme'],
      ['resume', 'acme', 'web'],
      ['sync', 'acme'],
    ]);
    expect(refused).toEqual([]);
    expect(lines).toMatchObject(
      ['sync', 'sync', 'suspend', 'suspend', 'resume', 'resume'].map((action) => ({
        event: 'page.action',
        action,
        by,
      })),
    );
    expect(JSON.stringify(lines)).not.toContain('tökén');
  });

  it.each([
    ['suspend', { ...target, reason: ' ', duration: '1h' }, 400],
    ['suspend', { ...target, reason: 'x'.repeat(201), duration: '1h' }, 400],
    ['suspend', { ...target, reason: 'x', duration: 'for ever' }, 400],
    ['suspend', { ...target, reason: 'x', duration: '0s' }, 400],
    ['suspend', { ...target, reason: 'x', duration: '1001d' }, 400],
    ['suspend', { client: 'acme', template: 'gone', reason: 'x', duration: '1h' }, 404],
    ['resume', { client: 'acme', template: 'gone' }, 404],
    ['resume', { client: 'acme' }, 400],
  ])('is told what is wrong with %s %j', async (action, fields, expected) => {
    const { post, actor, lines } = await start();
    const { status, body } = await post(`/act/${action}`, fields, await actor());
    expect(status).toBe(expected);
    expect(body).toContain('Nothing was done');
    expect(lines).toEqual([]);
  });

  it('may put no secret where everybody would see it, and is not shown it again', async () => {
    const redact = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('token-of-acme', '***'));
    const { post, signIn, actor, done, lines } = await start({ redact });
    const reason = 'with token-of-acme';
    const suspended = await post('/act/suspend', { ...target, reason, duration: '1h' }, await actor());
    expect(suspended.body).toContain('it holds a token or another secret, and everybody would see it');
    const named = await signIn(triggerToken, {}, 'token-of-acme');
    expect([suspended.status, named.status]).toEqual([400, 400]);
    expect(suspended.body + named.body + JSON.stringify([named.headers, lines])).not.toContain(
      'token-of-acme',
    );
    expect(done).toEqual([]);
  });

  it('is told when the queue takes no pass', async () => {
    const { post, actor } = await start({ requestPass: () => Promise.resolve({ kind: 'unsure' }) });
    const headers = await actor();
    expect((await post('/act/sync', {}, headers)).status).toBe(503);
    // A suspension is stored before.
    expect((await post('/act/suspend', { ...target, reason: 'x' }, headers)).status).toBe(303);
  });

  it.each(['Anna\nB', '', 'x'.repeat(61), '<b>', 'root (on the page)'])(
    'has a name: not %j',
    async (name) => {
      const { post } = await start();
      expect((await post('/sign-in', { token: triggerToken, name })).status).toBe(400);
    },
  );
});

describe('a session', () => {
  it.each([
    ['trigger', triggerToken],
    ['page', pageToken],
  ])('of the %s token ends when its reader signs out, for every copy of the cookie', async (_, token) => {
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
  });

  it('ends when the token changes, and cannot be forged', async () => {
    let now = pageToken;
    const { ask, signIn } = await start({ pageToken: () => now });
    const cookie = cookieOf(await signIn(pageToken));
    for (const [from, to] of [
      [/\.(\d+)\./, (_: string, ends: string) => `.${Number(ends) + 1}.`],
      [/=read/, () => '=act'],
    ] as const)
      expect((await ask('/', { cookie: cookie.replace(from, to) })).status).toBe(401);
    expect((await ask('/', { cookie })).status).toBe(200);
    now = 'another page token';
    expect((await ask('/', { cookie })).status).toBe(401);
  });

  it('ends after a week, whatever a browser keeps', async () => {
    const { ask, signIn } = await start({ pageToken: () => pageToken });
    const cookie = cookieOf(await signIn(pageToken));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect((await ask('/', { cookie })).status).toBe(401);
  });

  it('is a cookie that other sites do not send, which is for the folder of the page and shows no token', async () => {
    const { signIn } = await start();
    const { headers, body } = await signIn(triggerToken);
    expect(String(headers['set-cookie'])).toMatch(/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    expect(decodeURIComponent(JSON.stringify(headers)) + body).not.toContain('tökén');
  });

  it.each<[string, TestOptions, OutgoingHttpHeaders]>([
    ['the public address has it', { publicUrl: () => 'https://dns.example.net/sync' }, {}],
    ['a proxy says so', {}, { 'x-forwarded-proto': 'https' }],
  ])('is for TLS alone if %s', async (_, options, headers) => {
    const { signIn } = await start(options);
    expect(String((await signIn(triggerToken, headers)).headers['set-cookie'])).toContain('; Secure;');
  });

  it('that does not come with a link from elsewhere is asked for once more by our own page', async () => {
    const { ask } = await start(both);
    const reloads = async (site: string): Promise<boolean> =>
      (await ask('/', { ...browser, 'sec-fetch-site': site })).body.includes('http-equiv="refresh"');
    expect([await reloads('cross-site'), await reloads('same-origin'), await reloads('none')]).toEqual([
      true,
      false,
      false,
    ]);
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
  ])('cannot act from %s, even with the cookie', async (_, headers) => {
    const { post, actor, done, refused } = await start();
    const sent = { ...headers, ...(await actor()) };
    for (const action of ['act/sync', 'act/suspend', 'act/resume', 'sign-out'])
      expect((await post(`/${action}`, { ...target, reason: 'x' }, sent)).status).toBe(403);
    expect((await post('/sign-in', { token: triggerToken, name: 'Eve' }, headers)).status).toBe(403);
    expect(done).toEqual([]);
    expect(refused).toHaveLength(5);
    expect(refused).toMatchObject(Array.from({ length: 5 }, () => ({ token: 'trigger', reason: 'foreign' })));
  });

  it('cannot act by GET, nor by another method, nor with JSON', async () => {
    const { ask, post, url, actor, done } = await start();
    const headers = await actor();
    for (const action of ['act/sync', 'act/suspend', 'act/resume', 'sign-out'])
      expect((await ask(`/${action}?client=acme&template=web&reason=x`, headers)).status).toBe(405);
    for (const method of ['PUT', 'DELETE', 'PATCH'])
      expect((await send(url, '/act/sync', headers, method)).status).toBe(405);
    const json = { ...headers, 'content-type': 'application/json', origin: 'https://evil.example' };
    expect((await post('/act/sync', {}, json)).status).toBe(403);
    expect(done).toEqual([]);
  });

  it('cannot show the page in a frame', async () => {
    const { ask } = await start();
    for (const path of ['/', '/sign-in']) {
      const { headers } = await ask(path);
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    }
  });
});

describe('behind a proxy that changes the Host', () => {
  const elsewhere = { host: '127.0.0.1', origin: 'https://dns.example.net' };

  it('publicUrl names the origin', async () => {
    const { signIn } = await start({ publicUrl: () => 'https://dns.example.net/sync' });
    expect((await signIn(triggerToken, elsewhere)).status).toBe(303);
    expect((await signIn(triggerToken, { ...elsewhere, origin: 'http://dns.example.net' })).status).toBe(403);
  });

  it('a browser that says that the form is of the same origin needs none', async () => {
    const { signIn } = await start();
    expect((await signIn(triggerToken, elsewhere)).status).toBe(403);
    expect((await signIn(triggerToken, { ...elsewhere, 'sec-fetch-site': 'same-origin' })).status).toBe(303);
  });
});

describe('who signs in', () => {
  it.each([
    ['', './'],
    ['?show=blocked&q=www', './'],
    ['templates/standard-web', '../'],
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
    const hostile = [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example/',
      'templates/\r\nx: y',
      '../x',
    ];
    for (const next of [...hostile, 'sign-in'])
      expect((await post('/sign-in', { token: pageToken, next })).headers['location']).toBe('./');
  });

  it('is told what each token does', async () => {
    const { ask } = await start(both);
    const { body } = await ask('/', browser);
    expect(body).toContain('<code>pageToken</code> shows the pages.');
    expect(body).toMatch(/<code>triggerToken<\/code> also asks for passes, and suspends and resumes/);
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
    expect(refused).toEqual([
      { token: 'page', reason: 'missing', address: '127.0.0.1' },
      { token: 'page', reason: 'wrong', address: '127.0.0.1' },
    ]);
    const offered = await ask('/', browser);
    expect([offered.status, offered.headers['content-security-policy']]).toEqual([
      401,
      expect.stringContaining("form-action 'self'"),
    ]);
    expect(refused).toHaveLength(2);
  });

  it.each([
    ['another token', pageToken.slice(1)],
    ['no token', ''],
  ])('%s in the form is refused, and nothing of it is shown', async (_, token) => {
    const { signIn, refused, lines } = await start(both);
    const { status, headers, body } = await signIn(token);
    expect([status, headers['set-cookie']]).toEqual([401, undefined]);
    expect(body).toContain('This token is not one of those in the settings.');
    expect(body + JSON.stringify(lines)).not.toContain('5678');
    expect(refused).toMatchObject([{ token: 'page', reason: 'wrong' }]);
  });

  it('a form larger than a form of ours is not read', async () => {
    const { signIn } = await start(both);
    expect((await signIn('x'.repeat(10_000))).status).toBe(413);
  });
});
