import { request, type OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { PageRefusal } from '../../src/daemon/http/refusals.ts';
import type { RunningServer } from '../../src/daemon/http/server.ts';
import { startTestServer, type TestOptions } from './test-server.ts';

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const token = 'page tökén +1234';

const start = async (options: TestOptions = {}) => {
  const refused: PageRefusal[] = [];
  const server = await startTestServer({
    pageToken: () => token,
    onRefused: (refusal) => void refused.push(refusal),
    ...options,
  });
  running.push(server);
  const ask = (path: string, headers: OutgoingHttpHeaders = {}, form?: string): Promise<Answer> =>
    send(new URL(path, server.url), headers, form);
  const signIn = (given: string): Promise<Answer> => ask('/sign-in', formHeaders, formOf(given));
  return { ...server, ask, signIn, refused };
};

interface Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

const send = (url: URL, headers: OutgoingHttpHeaders, form?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request(url, { headers, method: form === undefined ? 'GET' : 'POST' }, (response) => {
      // What streams on says enough by its head.
      const ends = response.headers['content-type'] === 'text/event-stream' && response.destroy();
      const body = ends === false ? text(response) : Promise.resolve('');
      body.then(
        (all) => resolve({ status: response.statusCode, headers: response.headers, body: all }),
        reject,
      );
    })
      .on('error', reject)
      .end(form);
  });

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };
const formOf = (given: string): string => new URLSearchParams({ token: given }).toString();
/** As curl sends it: the bytes of UTF-8. */
const bearer = (secret: string) => ({ authorization: `Bearer ${Buffer.from(secret).toString('latin1')}` });
const cookieOf = ({ headers }: Answer): string => String(headers['set-cookie']).split(';')[0] ?? '';
const browser = { accept: 'text/html,*/*' };

const guarded = ['/', '/events', '/api/report', '/api/history', '/none'];
const open = ['/livez', '/readyz', '/healthz', '/metrics'];

describe('who signs in', () => {
  const signInFor = async (next: string): Promise<Answer> => {
    const { ask } = await start();
    return ask('/sign-in', formHeaders, new URLSearchParams({ token, next }).toString());
  };

  it.each(['/', '/?show=blocked&q=www', '/templates/standard-web', '/clients/acme/templates/a%2Fb'])(
    'comes to the page that was asked for: %s',
    async (page) => {
      const { ask } = await start();
      const { body } = await ask(page, browser);
      expect(body).toContain(`name="next" value="${page.replace('&', '&#38;')}"`);
      expect((await signInFor(page)).headers['location']).toBe(page);
    },
  );

  it.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '/templates/\r\nx: y',
    '/sign-in',
    '',
  ])('comes to no page of somebody else: %j', async (page) => {
    expect((await signInFor(page)).headers['location']).toBe('/');
  });
});

describe('with a page token', () => {
  it.each(guarded)('%s requires it', async (path) => {
    const { ask, refused } = await start();
    const { status, headers, body } = await ask(path);
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect(body).toBe('Needs the page token as a bearer token, or a sign-in.\n');
    for (const wrong of [token.slice(1), `${token}1`, ''])
      expect((await ask(path, bearer(wrong))).status).toBe(401);
    expect(refused).toEqual([
      { token: 'page', reason: 'missing', address: '127.0.0.1' },
      ...Array.from({ length: 3 }, () => ({ token: 'page', reason: 'wrong', address: '127.0.0.1' })),
    ]);
    expect((await ask(path, bearer(token))).status).toBe(path === '/none' ? 404 : 200);
    expect(refused).toHaveLength(4);
  });

  it.each(open)('%s stays open', async (path) => {
    const { ask } = await start();
    expect((await ask(path)).status).toBe(200);
  });

  it('only the trigger token starts a pass', async () => {
    let passes = 0;
    const { ask, refused } = await start({
      triggerToken: () => 'the trigger token',
      requestPass: () =>
        Promise.resolve({ kind: 'asked', passes: [{ client: 'acme', run: String((passes += 1)) }] }),
    });
    expect((await ask('/api/reconcile', bearer(token), '')).status).toBe(401);
    expect(refused).toEqual([{ token: 'trigger', reason: 'wrong', address: '127.0.0.1' }]);
    expect((await ask('/api/reconcile', bearer('the trigger token'), '')).status).toBe(202);
    expect((await ask('/api/report', bearer('the trigger token'))).status).toBe(401);
    expect(passes).toBe(1);
  });
});

describe('signing in', () => {
  it('is offered to a browser instead of the page, and gives a cookie for all pages', async () => {
    const { ask, signIn, refused } = await start();
    const offered = await ask('/', browser);
    expect(offered.status).toBe(401);
    expect(offered.body).toContain('<form class="sign-in" method="post" action="/sign-in">');
    expect(offered.headers['content-security-policy']).toContain("form-action 'self'");
    expect(refused).toEqual([]);

    const signedIn = await signIn(token);
    expect([signedIn.status, signedIn.headers['location']]).toEqual([303, '/']);
    expect(String(signedIn.headers['set-cookie'])).toMatch(/; HttpOnly; SameSite=Lax$/);
    expect(decodeURIComponent(String(signedIn.headers['set-cookie']))).not.toContain(token);
    for (const path of guarded)
      expect((await ask(path, { cookie: cookieOf(signedIn) })).status).toBe(path === '/none' ? 404 : 200);
    expect(refused).toEqual([]);
  });

  it('restricts the cookie to TLS behind a proxy with TLS', async () => {
    const { ask } = await start();
    const { headers } = await ask(
      '/sign-in',
      { ...formHeaders, 'x-forwarded-proto': 'https' },
      formOf(token),
    );
    expect(String(headers['set-cookie'])).toContain('; Secure');
  });

  it.each([
    ['another token', formOf(token.slice(1))],
    ['no token', ''],
    ['two tokens', `${formOf('x')}&${formOf(token)}x`],
  ])('with %s is refused, and shows nothing of it', async (_, form) => {
    const { ask, refused, lines } = await start();
    const { status, headers, body } = await ask('/sign-in', formHeaders, form);
    expect([status, headers['set-cookie']]).toEqual([401, undefined]);
    expect(body).toContain('This is not the page token.');
    expect(body + JSON.stringify(lines)).not.toContain('tökén');
    expect(refused).toMatchObject([{ token: 'page' }]);
  });

  it('takes no body larger than a form', async () => {
    const { ask } = await start();
    expect((await ask('/sign-in', formHeaders, formOf('x'.repeat(10_000)))).status).toBe(413);
  });

  it('ends when the token changes, and cannot be forged', async () => {
    let now = token;
    const { ask, signIn } = await start({ pageToken: () => now });
    const cookie = cookieOf(await signIn(token));
    const [name = '', value = ''] = cookie.split('=');
    const later = `${name}=${value.replace(/^\d+/, (ends) => String(Number(ends) + 1))}`;
    expect((await ask('/', { cookie: later })).status).toBe(401);
    expect((await ask('/', { cookie: `${name}=${Date.now() + 1_000_000}` })).status).toBe(401);
    expect((await ask('/', { cookie })).status).toBe(200);
    now = 'another page token';
    expect((await ask('/', { cookie })).status).toBe(401);
  });

  it('does not exist without a page token', async () => {
    const { ask, signIn } = await start({ pageToken: () => null });
    expect((await signIn('')).status).toBe(404);
    expect((await ask('/sign-in')).status).toBe(404);
    expect((await ask('/')).status).toBe(200);
  });
});
