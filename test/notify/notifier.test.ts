import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { UserError } from '../../src/errors.ts';
import type { EndedPass } from '../../src/notify/news.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { notificationSchema, type Notification } from '../../src/notify/schema.ts';
import type { NotifyReceiver } from '../../src/settings/receivers.ts';
import { listeningLogger } from '../daemon/listening-logger.ts';
import { reset, scriptedServer, silence, status, type Answer } from '../wire/scripted-server.ts';
import { address, another, drifted, inSync, newStore, passEvent, receiver, update } from './pass-events.ts';

vi.setConfig({ testTimeout: 20_000 });

const ok = status(204);
const held = passEvent([{ status: 'held' }]);

/** A receiver whose pauses are short, and what it meets. */
const opened = async (answers: readonly Answer[], more: Partial<NotifyReceiver> = {}, store = newStore()) => {
  const server = await scriptedServer(...answers);
  const { log, lines } = listeningLogger();
  const outcomes = new EventEmitter();
  const counts: string[] = [];
  const notifier = new Notifier({
    receivers: [receiver({ url: { read: () => server.url, place: '' }, ...more })],
    store,
    redact: (value) => value,
    log,
    gap: 1,
    firstBackoff: 5,
    count: (_, outcome) => {
      counts.push(outcome);
      outcomes.emit(outcome);
    },
  });
  onTestFinished(() => notifier.close(0));
  const next = (outcome: string) => once(outcomes, outcome);
  const publish = (event: EndedPass) => notifier.publish(another(event));
  return {
    ...server,
    counts,
    close: (within: number) => notifier.close(within),
    publish,
    next,
    /** Publishes it, and waits until it is taken. */
    deliver: async (event: EndedPass): Promise<void> => {
      const taken = next('delivered');
      await publish(event);
      await taken;
    },
    messages: () => server.seen.map(({ body }): Notification => notificationSchema.parse(JSON.parse(body))),
    events: () =>
      server.seen.map(({ body }) => JSON.parse(body).changes.map(({ event }: { event: string }) => event)),
    said: (name: string) => lines.filter(({ event }) => event === name),
  };
};

test('a message contains what is new, in the documented form', async () => {
  const { seen, messages, deliver } = await opened([ok]);
  await deliver(
    passEvent([
      { status: 'drifted', differences: [update()] },
      { template: 'mail', status: 'held', message: 'Why.' },
    ]),
  );
  const { method, headers, body } = seen[0]!;
  expect([method, headers['content-type']]).toEqual(['POST', 'application/json']);
  const [message] = messages();
  expect(message).toEqual(JSON.parse(body));
  expect(message?.changes).toEqual([
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
  expect(message?.delivery).toBe(headers['webhook-id']);
  expect(headers['webhook-signature']).toBeUndefined();
});

// A daemon is asked for one that is a text.
test('a message is signed over id, time and body with a key in base64', async () => {
  const secret = { read: () => `whsec_${Buffer.from('key').toString('base64')}`, place: '' };
  const { seen, deliver } = await opened([ok], { secret });
  await deliver(drifted);
  const { body, headers } = seen[0]!;
  const [id, time] = [headers['webhook-id'], headers['webhook-timestamp']];
  const digest = createHmac('sha256', 'key')
    .update(`${String(id)}.${String(time)}.${body}`)
    .digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${digest}`);
  expect(Math.abs(Date.now() / 1_000 - Number(time))).toBeLessThan(60);
});

test('messages stay within the limits of a receiver, for any records', async () => {
  const { seen, messages, publish, next } = await opened([ok]);
  const long = { ...address('\u{1f600}'.repeat(10_000)), type: 'TXT' };
  const many = <Thing>(count: number, of: (index: number) => Thing): Thing[] =>
    Array.from({ length: count }, (_, index) => of(index));
  const differences = many(12, (recordId) => update({ recordId, current: long, desired: long }));
  await publish(
    passEvent(many(25, (index) => ({ template: `t${index}`, status: 'drifted' as const, differences }))),
  );
  for (let count = 0; count < 2; count += 1) await next('delivered');
  expect(seen[0]!.body.length).toBeLessThan(500_000);
  const [{ changes } = { changes: [] }] = messages();
  expect(changes).toHaveLength(20);
  expect(changes[0]).toMatchObject({ counts: { differences: 12 } });
  expect(changes[0]?.differences).toHaveLength(10);
  expect(messages().flatMap((one) => one.changes.map(({ template }) => template))).toEqual(
    many(25, (index) => `t${index}`),
  );
});

/** What a receiver answers before it takes a message, and the reason that the log has. */
test.each<[string, Answer[], string, Partial<NotifyReceiver>?]>([
  ['an error', [status(500), status(500)], 'the receiver answered 500'],
  ['that the address is wrong', [status(404)], 'the receiver answered 404'],
  [
    'a redirect, which is not followed',
    [status(307, '', { location: '/elsewhere' })],
    'the receiver answered 307, and redirects are not followed',
  ],
  ['nothing, and resets the connection', [reset], 'ECONNRESET'],
  ['nothing in time', [silence], 'no answer within 50 ms', { timeout: 50 }],
  ['that it needs a moment', [status(429, '', { 'retry-after': '0' })], 'the receiver answered 429'],
])('a receiver that answers %s gets the same message again', async (_, answers, reason, more = {}) => {
  const { seen, deliver, counts, said } = await opened([...answers, ok], more);
  await deliver(drifted);
  expect(seen.length).toBeGreaterThan(answers.length);
  expect(counts).toEqual([...seen.slice(1).map(() => 'retried'), 'delivered']);
  const sent = seen.map(({ body, path, headers }) => [body, path, headers['webhook-id']]);
  expect(sent).toEqual(sent.map(() => [seen[0]!.body, '/api/v1', seen[0]!.headers['webhook-id']]));
  expect(said('notify.retried')).toEqual(seen.slice(1).map(() => expect.objectContaining({ reason })));
});

test('a receiver whose address cannot be read gets the message when it can', async () => {
  const { url } = await scriptedServer(ok);
  const read = vi
    .fn<() => string>(() => url)
    .mockImplementationOnce(() => {
      throw new UserError('notify.ops.url: cannot read /run/url (ENOENT)');
    });
  const { deliver, said } = await opened([], { url: { read, place: '' } });
  await deliver(drifted);
  expect(said('notify.retried')).toMatchObject([{ reason: expect.stringContaining('ENOENT') }]);
});

test('a receiver that asks to wait gets nothing meanwhile, while others do', async () => {
  const patient = await opened([status(503, '', { 'retry-after': '3600' })]);
  const other = await opened([status(503), status(503), status(503), status(503), ok]);
  await patient.publish(drifted);
  await patient.next('retried');
  await other.deliver(drifted);
  expect(patient.seen).toHaveLength(1);
});

test('a receiver that refuses a message still gets the next one', async () => {
  const { publish, deliver, counts, next, events, said } = await opened([
    status(400),
    status(413),
    status(415),
    ok,
  ]);
  await publish(drifted);
  await next('dropped');
  await deliver(inSync);
  expect(counts).toEqual(['retried', 'retried', 'dropped', 'delivered']);
  expect(events().at(-1)).toEqual(['cleared']);
  expect(said('notify.dropped')).toMatchObject([{ level: 50, reason: 'the receiver answered 415' }]);
});

test('a receiver of other clients gets nothing', async () => {
  const { publish, deliver, events } = await opened([ok], { clients: ['bakery'] });
  await publish(drifted);
  await deliver({ ...held, client: 'bakery' });
  expect(events()).toEqual([['held']]);
});

test('at shutdown nothing is tried again, and an attempt is not waited for for long', async () => {
  const { seen, publish, close, counts } = await opened([silence]);
  for (const one of [drifted, held]) await publish(one);
  await close(20);
  expect(seen.length).toBeLessThan(2);
  expect(counts).toEqual(seen.map(() => 'retried'));
});

test('a message has a link to the page if publicUrl is set, also in the format of Slack', async () => {
  const publicUrl = 'https://dns.example.net';
  const link = `${publicUrl}/clients/acme/templates/web`;
  const [ops, chat] = [await opened([ok], { publicUrl }), await opened([ok], { publicUrl, type: 'slack' })];
  // A name may have half a character.
  for (const { deliver } of [ops, chat])
    for (const one of [drifted, passEvent([{ template: '\ud800', status: 'held' }])]) await deliver(one);
  expect(ops.messages()[0]?.changes[0]).toMatchObject({ link });
  expect(chat.seen[0]!.body).toContain(`<${link}|`);
});

test('while nothing can be saved, a message that was taken is not sent again, and the next pass tells the rest', async () => {
  const store = newStore();
  let isDown = false;
  const unless = <T>(task: () => Promise<T>): Promise<T> =>
    isDown ? Promise.reject(new Error('no space left')) : task();
  const taken: Answer = (response, request) => {
    isDown = true;
    return ok(response, request);
  };
  const { publish, deliver, next, events, said } = await opened(
    [taken, ok],
    {},
    {
      ...store,
      query: (sql, values) => unless(() => store.query(sql, values)),
      transaction: (task) => unless(() => store.transaction(task)),
    },
  );
  await publish(drifted);
  await vi.waitFor(() => expect(said('notify.error')).not.toEqual([]));
  await publish(inSync);
  expect(said('notify.unsaved')).toHaveLength(1);
  const delivered = next('delivered');
  isDown = false;
  await delivered;
  await deliver(held);
  expect(events()).toEqual([['drift'], ['held']]);
});
