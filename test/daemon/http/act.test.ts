import { request, type OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PageRefusal } from '../../../src/daemon/http/refusals.ts';
import type { Acting } from '../../../src/status-page/actions.ts';
import { html } from '../../../src/report/markup.ts';
import { bytes, startTestServer, type TestOptions } from '../test-server.ts';

const triggerToken = 'trigger tökén +1234';
const pageToken = 'the page token 5678';

interface Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

const send = (url: URL, method: string, headers: OutgoingHttpHeaders, form?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request(url, { method, headers }, (response) => {
      const { statusCode: status, headers: given } = response;
      text(response).then((body) => resolve({ status, headers: given, body }), reject);
    })
      .on('error', reject)
      .end(form);
  });

const cookiesOf = ({ headers }: Answer): string =>
  (headers['set-cookie'] ?? [])
    .toString()
    .replaceAll(/;[^,]*/g, '')
    .replaceAll(',', '; ');

/** A server on which somebody can act, and what was done. */
const start = async (options: TestOptions = {}) => {
  const done: unknown[] = [];
  const refused: PageRefusal[] = [];
  const shown: Acting[] = [];
  const server = await startTestServer({
    triggerToken: () => triggerToken,
    requestPass: (clients) => {
      done.push(['sync', ...clients]);
      return Promise.resolve({ kind: 'asked', passes: [] });
    },
    suspend: (...what) => {
      done.push(['suspend', ...what]);
      const [, template, { by, reason, duration }] = what;
      const one = { template, templateId: null, by, reason, since: storeNow };
      return Promise.resolve(
        template === 'web' ? { ...one, until: duration === null ? null : storeNow + duration } : null,
      );
    },
    resume: (...what) => {
      done.push(['resume', ...what]);
      return Promise.resolve(what[1] === 'web' ? 1 : null);
    },
    outcomeOf: ({ action, until }) => html`${action} ${until === null ? '' : new Date(until).toISOString()}`,
    pages: {
      page: (_, acting) => {
        shown.push(acting);
        return Promise.resolve(bytes('page'));
      },
      template: () => null,
    },
    onRefused: (refusal) => void refused.push(refusal),
    ...options,
  });
  onTestFinished(() => server.close());
  const { origin } = new URL(server.url);
  const post = (path: string, fields: Record<string, string>, headers: OutgoingHttpHeaders = {}) =>
    send(
      new URL(path, server.url),
      'POST',
      { 'content-type': 'application/x-www-form-urlencoded', origin, ...headers },
      new URLSearchParams(fields).toString(),
    );
  const ask = (path: string, headers: OutgoingHttpHeaders = {}) =>
    send(new URL(path, server.url), 'GET', headers);
  const signIn = (token: string, headers: OutgoingHttpHeaders = {}, name = 'Anna Example') =>
    post('/act/sign-in', { token, name, next: '/templates/web' }, headers);
  /** The cookie and the form token of somebody who has signed in. */
  const actor = async () => {
    const cookie = cookiesOf(await signIn(triggerToken));
    await ask('/', { cookie });
    const acting = shown.at(-1);
    return { cookie, form: acting?.kind === 'signed-in' ? acting.formToken : expect.fail('not signed in') };
  };
  return { ...server, origin, post, ask, signIn, actor, done, refused, shown };
};

/** The clock of the store is ahead. */
const storeNow = Date.parse('2036-11-20T20:00:00Z');

const target = { client: 'acme', template: 'web' };

describe('who has signed in with the trigger token', () => {
  it('asks for a pass, suspends and resumes, and comes back to the page, which shows the outcome', async () => {
    const { post, ask, actor, done, refused, shown, lines } = await start();
    const { cookie, form } = await actor();
    const next = '/clients/acme/templates/web';
    for (const [action, fields, outcome] of [
      ['sync', {}, 'sync '],
      ['sync', { client: 'acme' }, 'sync '],
      ['suspend', { ...target, reason: ' Moving ', duration: '8h' }, 'suspend 2036-11-21T04:00:00.000Z'],
      ['suspend', { ...target, reason: 'Moving', duration: '' }, 'suspend '],
      ['resume', target, 'resume '],
    ] as const) {
      const { status, headers } = await post(`/act/${action}`, { form, next, ...fields }, { cookie });
      expect([status, headers['location']]).toEqual([303, next]);
      await ask('/', { cookie: `${cookie}; ${cookiesOf({ status, headers, body: '' })}` });
      expect(shown.at(-1)).toMatchObject({ outcome: { source: outcome } });
    }
    const by = 'Anna Example';
    expect(done).toEqual([
      ['sync'],
      ['sync', 'acme'],
      ['suspend', 'acme', 'web', { by, reason: 'Moving', duration: 28_800_000 }],
      ['sync', 'acme'],
      ['suspend', 'acme', 'web', { by, reason: 'Moving', duration: null }],
      ['sync', 'acme'],
      ['resume', 'acme', 'web'],
      ['sync', 'acme'],
    ]);
    expect(refused).toEqual([]);
    expect(lines).toMatchObject(
      ['sync', 'sync', 'suspend', 'suspend', 'resume'].map((action) => ({
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
    ['remove', target, 400],
  ])('is told what is wrong with %s %j', async (action, fields, expected) => {
    const { post, actor, lines } = await start();
    const { cookie, form } = await actor();
    const { status, body } = await post(`/act/${action}`, { form, ...fields }, { cookie });
    expect(status).toBe(expected);
    expect(body).toContain('Nothing was done');
    expect(lines).toEqual([]);
  });

  it('may put no secret where everybody would see it, and is not shown it again', async () => {
    const redact = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('token-of-acme', '***'));
    const { post, signIn, actor, done, lines } = await start({ redact });
    const { cookie, form } = await actor();
    const reason = 'with token-of-acme';
    const suspended = await post('/act/suspend', { form, ...target, reason, duration: '1h' }, { cookie });
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
    const { cookie, form } = await actor();
    expect((await post('/act/sync', { form }, { cookie })).status).toBe(503);
    // A suspension is stored before.
    expect((await post('/act/suspend', { form, ...target, reason: 'x' }, { cookie })).status).toBe(303);
  });

  it('has signed out afterwards, and when the token changes', async () => {
    let token = triggerToken;
    const { post, ask, actor, shown } = await start({ triggerToken: () => token });
    const { cookie, form } = await actor();
    const out = await post('/act/sign-out', { form }, { cookie });
    expect(String(out.headers['set-cookie'])).toMatch(/dns-template-sync-act=; Max-Age=0/);
    token = 'another trigger token';
    await ask('/', { cookie });
    expect(shown.at(-1)).toEqual({ kind: 'signed-out' });
  });

  it('has a cookie that other sites do not send, and that shows nothing of the token', async () => {
    const { signIn } = await start();
    const { headers, body } = await signIn(triggerToken, { 'x-forwarded-proto': 'https' });
    expect(String(headers['set-cookie'])).toMatch(/; HttpOnly; Secure; SameSite=Strict$/);
    expect(decodeURIComponent(JSON.stringify(headers)) + body).not.toContain('tökén');
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
  ])('cannot act from %s, even with cookie and form token', async (_, headers) => {
    const { post, actor, done, refused } = await start();
    const { cookie, form } = await actor();
    const sent = { ...headers, cookie };
    for (const action of ['sync', 'suspend', 'resume', 'sign-out'])
      expect((await post(`/act/${action}`, { form, ...target, reason: 'x' }, sent)).status).toBe(403);
    expect((await post('/act/sign-in', { token: triggerToken, name: 'Eve' }, headers)).status).toBe(403);
    expect(done).toEqual([]);
    expect(refused).toHaveLength(5);
    expect(refused).toMatchObject(Array.from({ length: 5 }, () => ({ token: 'trigger', reason: 'foreign' })));
  });

  it('cannot act without the token of a form, with a forged one, or with that of another session', async () => {
    const { post, actor, done } = await start();
    const [one, other] = [await actor(), await actor()];
    for (const form of ['', 'x'.repeat(43), other.form, one.form.slice(1)])
      expect((await post('/act/sync', { form }, { cookie: one.cookie })).status).toBe(403);
    expect((await post('/act/sync', {}, { cookie: one.cookie })).status).toBe(403);
    expect((await post('/act/sync', { form: one.form })).status).toBe(403);
    expect(done).toEqual([]);
  });

  it('cannot act by GET, nor by another method', async () => {
    const { ask, url, actor, done } = await start();
    const { cookie, form } = await actor();
    for (const action of ['sync', 'suspend', 'resume', 'sign-out', 'sign-in'])
      expect(
        (await ask(`/act/${action}?form=${form}&client=acme&template=web&reason=x`, { cookie })).status,
      ).toBe(405);
    for (const method of ['PUT', 'DELETE', 'PATCH'])
      expect((await send(new URL('/act/sync', url), method, { cookie })).status).toBe(405);
    expect(done).toEqual([]);
  });

  it('cannot show the page in a frame', async () => {
    const { ask } = await start();
    for (const path of ['/', '/act']) {
      const { headers } = await ask(path);
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    }
  });

  it('cannot send people elsewhere after signing in', async () => {
    const { post } = await start();
    const form = { token: triggerToken, name: 'Anna', next: '//evil.example/' };
    expect((await post('/act/sign-in', form)).headers['location']).toBe('/');
  });
});

describe('the page token', () => {
  const both = { pageToken: () => pageToken };

  it('never acts: not at the sign-in, not as a bearer, and not by its cookie', async () => {
    const { post, signIn, done, refused } = await start(both);
    const page = await post('/sign-in', { token: pageToken });
    const cookie = cookiesOf(page);
    expect((await signIn(pageToken, { cookie })).status).toBe(401);
    expect(refused).toMatchObject([{ token: 'trigger', reason: 'wrong' }]);
    const renamed = `${cookie}; ${cookie.replace('dns-template-sync=', 'dns-template-sync-act=')}`;
    for (const sent of [{ cookie }, { cookie: renamed }, { authorization: `Bearer ${pageToken}` }])
      expect((await post('/act/sync', { form: 'x' }, sent)).status).toBe(403);
    expect(done).toEqual([]);
  });

  it('is needed to see the page, also by who may act', async () => {
    const { post, signIn } = await start(both);
    expect((await signIn(triggerToken)).status).toBe(401);
    const cookie = cookiesOf(await post('/sign-in', { token: pageToken }));
    expect((await signIn(triggerToken, { cookie })).status).toBe(303);
  });

  it('lets nobody act if it is the trigger token too', async () => {
    const { post, ask, shown } = await start({ pageToken: () => triggerToken });
    const cookie = cookiesOf(await post('/sign-in', { token: triggerToken }));
    expect((await ask('/act', { cookie })).status).toBe(404);
    await ask('/', { cookie });
    expect(shown).toEqual([{ kind: 'off' }]);
  });
});

it('nobody can act without a trigger token', async () => {
  const { ask, signIn, shown } = await start({ triggerToken: () => null });
  expect((await ask('/act')).status).toBe(404);
  expect((await signIn('')).status).toBe(404);
  await ask('/');
  expect(shown).toEqual([{ kind: 'off' }]);
});

it('behind a proxy that changes the Host, publicUrl names the origin', async () => {
  const { signIn } = await start({ publicUrl: () => 'https://dns.example.net/sync' });
  expect((await signIn(triggerToken, { origin: 'https://dns.example.net' })).status).toBe(303);
  expect((await signIn(triggerToken, { origin: 'http://dns.example.net' })).status).toBe(403);
});

it.each(['Anna\nB', '', 'x'.repeat(61), '<b>'])('a name is one: %j', async (name) => {
  const { post } = await start();
  expect((await post('/act/sign-in', { token: triggerToken, name })).status).toBe(400);
});
