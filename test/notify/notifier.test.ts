import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { UserError } from '../../src/errors.ts';
import type { EndedPass } from '../../src/notify/news.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import type { NotifyStore } from '../../src/notify/outbox.ts';
import { notificationSchema, type Notification } from '../../src/notify/schema.ts';
import type { NotifyReceiver } from '../../src/settings/receivers.ts';
import { listeningLogger } from '../daemon/listening-logger.ts';
import {
  reset,
  scriptedServer,
  silence,
  status,
  type Answer,
  type SeenRequest,
} from '../wire/scripted-server.ts';
import {
  address,
  another,
  drifted,
  inSync,
  newStore,
  passEvent,
  receiver as receiverOf,
  update,
} from './pass-events.ts';

vi.setConfig({ testTimeout: 20_000 });

const ok = status(204);

const notificationIn = ({ body }: SeenRequest): Notification => notificationSchema.parse(JSON.parse(body));

const eventsIn = (request: SeenRequest): string[] =>
  notificationIn(request).changes.map(({ event }) => event);

/** A receiver whose pauses are short, and what it meets. */
const opened = async (
  answers: readonly Answer[],
  more: Partial<NotifyReceiver> = {},
  { gap = 1, store = newStore() }: { readonly gap?: number; readonly store?: NotifyStore } = {},
) => {
  const server = await scriptedServer(...answers);
  const { log, lines } = listeningLogger();
  const outcomes = new EventEmitter();
  const counts: string[] = [];
  const settings = receiverOf({ url: { read: () => server.url, place: '' }, ...more });
  const notifier = new Notifier({
    receivers: [settings],
    store,
    redact: (value) => value,
    log,
    gap,
    firstBackoff: 5,
    count: (_, outcome) => {
      counts.push(outcome);
      outcomes.emit(outcome);
    },
  });
  onTestFinished(() => notifier.close(0));
  return {
    server,
    notifier: {
      publish: (event: EndedPass) => notifier.publish(another(event)),
      configure: (receivers: readonly NotifyReceiver[]) => notifier.configure(receivers),
      close: (within: number) => notifier.close(within),
    },
    store,
    settings,
    counts,
    lines,
    next: (outcome: string) => once(outcomes, outcome),
  };
};

describe('a message', () => {
  test('contains what is new, in the documented form', async () => {
    const { server, notifier, next } = await opened([ok]);
    await notifier.publish(
      passEvent([
        { status: 'drifted', differences: [update()] },
        { template: 'mail', status: 'held', message: 'Why.' },
      ]),
    );
    await next('delivered');
    const [request] = server.seen;
    expect(request).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
    const message = notificationIn(request!);
    expect(message).toEqual(JSON.parse(request!.body));
    expect(message.changes).toEqual([
      expect.objectContaining({ event: 'held', template: 'mail', message: 'Why.' }),
      {
        event: 'drift',
        client: 'acme',
        template: 'web',
        templateId: 17,
        file: 'templates/standard-web.yaml',
        state: 'drifted',
        previous: 'in-sync',
        run: expect.any(String),
        at: '2026-11-20T20:00:00.000Z',
        message: null,
        counts: { differences: 1, mended: 0, subdomains: 0 },
        differences: [update()],
        subdomains: [],
      },
    ]);
    expect(message.delivery).toBe(request!.headers['webhook-id']);
    expect(request!.headers['webhook-signature']).toBeUndefined();
  });

  test.each([
    ['a text', 'a secret text', Buffer.from('a secret text')],
    ['a key in base64', `whsec_${Buffer.from('key').toString('base64')}`, Buffer.from('key')],
  ])('is signed over id, time and body with %s', async (_, secret, key) => {
    const { server, notifier, next } = await opened([ok], { secret: { read: () => secret, place: '' } });
    await notifier.publish(drifted);
    await next('delivered');
    const { body, headers } = server.seen[0]!;
    const [id, time] = [headers['webhook-id'], headers['webhook-timestamp']];
    const digest = createHmac('sha256', key)
      .update(`${String(id)}.${String(time)}.${body}`)
      .digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${digest}`);
    expect(Math.abs(Date.now() / 1_000 - Number(time))).toBeLessThan(60);
  });

  test('stays within the limits of a receiver, for any records', async () => {
    const { server, notifier, next } = await opened([ok]);
    const long = { ...address('\u{1f600}'.repeat(10_000)), type: 'TXT' };
    const many = <Thing>(count: number, of: (index: number) => Thing): Thing[] =>
      Array.from({ length: count }, (_, index) => of(index));
    const differences = many(30, (recordId) => update({ recordId, current: long, desired: long }));
    await notifier.publish(
      passEvent(many(50, (index) => ({ template: `t${index}`, status: 'drifted' as const, differences }))),
    );
    for (let count = 0; count < 3; count += 1) await next('delivered');
    expect(server.seen[0]!.body.length).toBeLessThan(500_000);
    const { changes } = notificationIn(server.seen[0]!);
    expect(changes).toHaveLength(20);
    expect(changes[0]).toMatchObject({ counts: { differences: 30 } });
    expect(changes[0]?.differences).toHaveLength(10);
    expect(server.seen.flatMap((one) => notificationIn(one).changes.map(({ template }) => template))).toEqual(
      many(50, (index) => `t${index}`),
    );
  });
});

/** `ok` is what a receiver answers at last. */
test.each<[string, Answer[], string]>([
  ['an error', [status(500), status(500)], 'the receiver answered 500'],
  ['that the address is wrong', [status(404)], 'the receiver answered 404'],
  [
    'a redirect, which is not followed',
    [status(307, '', { location: '/elsewhere' })],
    'the receiver answered 307, and redirects are not followed',
  ],
  ['nothing, and resets the connection', [reset], 'ECONNRESET'],
  ['that it needs a moment', [status(429, '', { 'retry-after': '0' })], 'the receiver answered 429'],
])('a receiver that answers %s gets the same message again', async (_, answers, reason) => {
  const { server, notifier, counts, next, lines } = await opened([...answers, ok]);
  await notifier.publish(drifted);
  await next('delivered');
  expect(counts).toEqual([...answers.map(() => 'retried'), 'delivered']);
  expect(new Set(server.seen.map(({ body }) => body)).size).toBe(1);
  expect(new Set(server.seen.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(server.seen.map(({ path }) => path)).toEqual(server.seen.map(() => '/api/v1'));
  expect(lines.filter(({ event }) => event === 'notify.retried')).toEqual(
    answers.map(() => expect.objectContaining({ reason })),
  );
});

describe('a receiver', () => {
  test('that asks to wait gets nothing meanwhile, while others do', async () => {
    const patient = await opened([status(503, '', { 'retry-after': '3600' })]);
    const other = await opened([status(503), status(503), status(503), status(503), ok]);
    await patient.notifier.publish(drifted);
    await patient.next('retried');
    await other.notifier.publish(drifted);
    await other.next('delivered');
    expect(patient.server.seen).toHaveLength(1);
  });

  test('that does not answer in time gets the message again, with the same id', async () => {
    const { server, notifier, next, lines } = await opened([silence, ok], { timeout: 50 });
    await notifier.publish(drifted);
    await next('delivered');
    const ids = server.seen.map(({ headers }) => headers['webhook-id']);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(1);
    expect(lines).toContainEqual(expect.objectContaining({ reason: 'no answer within 50 ms' }));
  });

  test('that refuses a message still gets the next one', async () => {
    const refusing = [status(400), status(413), status(415)];
    const { server, notifier, counts, next, lines } = await opened([...refusing, ok]);
    await notifier.publish(drifted);
    await next('dropped');
    await notifier.publish(inSync);
    await next('delivered');
    expect(counts).toEqual(['retried', 'retried', 'dropped', 'delivered']);
    expect(eventsIn(server.seen.at(-1)!)).toEqual(['cleared']);
    expect(lines.find(({ level }) => level === 50)).toMatchObject({ reason: 'the receiver answered 415' });
  });

  test('whose address cannot be read gets the message when it can', async () => {
    let isThere = false;
    const read = (): string => {
      if (isThere) return server.url;
      isThere = true;
      throw new UserError('notify.ops.url: cannot read /run/url (ENOENT)');
    };
    const { server, notifier, next, lines } = await opened([ok], { url: { read, place: '' } });
    await notifier.publish(drifted);
    await next('delivered');
    expect(lines).toContainEqual(expect.objectContaining({ reason: expect.stringContaining('ENOENT') }));
  });

  test('of other clients gets nothing', async () => {
    const { server, notifier, next } = await opened([ok], { clients: ['bakery'] });
    await notifier.publish(drifted);
    await notifier.publish({ ...passEvent([{ status: 'held' }]), client: 'bakery' });
    await next('delivered');
    expect(server.seen.map(eventsIn)).toEqual([['held']]);
  });
});

test('at shutdown nothing is tried again, and an attempt is not waited for for long', async () => {
  const { server, notifier, counts } = await opened([silence]);
  await notifier.publish(drifted);
  await notifier.publish(passEvent([{ status: 'held' }]));
  await notifier.close(20);
  expect(server.seen.length).toBeLessThan(2);
  expect(counts).toEqual(server.seen.map(() => 'retried'));
});

test('a message has a link to the page if publicUrl is set, also in the format of Slack', async () => {
  const publicUrl = 'https://dns.example.net';
  const link = `${publicUrl}/clients/acme/templates/web`;
  const [ops, chat] = [await opened([ok], { publicUrl }), await opened([ok], { publicUrl, type: 'slack' })];
  for (const { notifier, next } of [ops, chat]) {
    await notifier.publish(drifted);
    await next('delivered');
    // A name may have half a character.
    await notifier.publish(passEvent([{ template: '\ud800', status: 'held' }]));
    await next('delivered');
  }
  expect(notificationIn(ops.server.seen[0]!).changes[0]).toMatchObject({ link });
  expect(chat.server.seen[0]!.body).toContain(`<${link}|`);
});

test('while nothing can be saved, a message that was taken is not sent again, and the next pass tells the rest', async () => {
  const store = newStore();
  let isDown = false;
  const unless = <T>(task: () => Promise<T>): Promise<T> =>
    isDown ? Promise.reject(new Error('no space left')) : task();
  const flaky: NotifyStore = {
    ...store,
    query: (sql, values) => unless(() => store.query(sql, values)),
    transaction: (task) => unless(() => store.transaction(task)),
  };
  const taken: Answer = (response, request) => {
    isDown = true;
    return ok(response, request);
  };
  const { server, notifier, next, lines } = await opened([taken, ok], {}, { store: flaky });
  await notifier.publish(drifted);
  await vi.waitFor(() => expect(lines.some(({ event }) => event === 'notify.error')).toBe(true));
  await notifier.publish(inSync);
  expect(lines.filter(({ event }) => event === 'notify.unsaved')).toHaveLength(1);
  isDown = false;
  await next('delivered');
  await notifier.publish(passEvent([{ status: 'held' }]));
  await next('delivered');
  expect(server.seen.map(eventsIn)).toEqual([['drift'], ['held']]);
});
