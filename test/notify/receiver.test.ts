import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { occasions } from '../../src/notify/news.ts';
import { Receiver, type ReceiverSettings } from '../../src/notify/receiver.ts';
import { notificationSchema, type Notification } from '../../src/notify/schema.ts';
import { listeningLogger } from '../daemon/listening-logger.ts';
import {
  reset,
  scriptedServer,
  silence,
  status,
  type Answer,
  type SeenRequest,
} from '../wire/scripted-server.ts';
import { drifted, inSync, passEvent, newOutbox, update } from './pass-events.ts';

vi.setConfig({ testTimeout: 20_000 });

const ok = status(204);

const notificationIn = ({ body }: SeenRequest): Notification => notificationSchema.parse(JSON.parse(body));

const eventsIn = (request: SeenRequest): string[] =>
  notificationIn(request).changes.map(({ event }) => event);

/** A receiver whose pauses are short, and what it meets. */
const opened = async (answers: readonly Answer[], more: Partial<ReceiverSettings> = {}, gap = 1) => {
  const server = await scriptedServer(...answers);
  const { log, lines } = listeningLogger();
  const outcomes = new EventEmitter();
  const counts: string[] = [];
  const settings: ReceiverSettings = {
    name: 'ops',
    type: 'webhook',
    url: { read: () => server.url },
    secret: null,
    on: occasions,
    clients: null,
    timeout: 5_000,
    ...more,
  };
  const receiver = new Receiver({
    settings,
    outbox: newOutbox(),
    log,
    gap,
    firstBackoff: 5,
    count: (outcome) => {
      counts.push(outcome);
      outcomes.emit(outcome);
    },
  });
  onTestFinished(() => receiver.close(0));
  return {
    server,
    receiver,
    settings,
    counts,
    lines,
    next: (outcome: string) => once(outcomes, outcome),
  };
};

describe('a message', () => {
  test('contains what is new, in the documented form', async () => {
    const { server, receiver, next } = await opened([ok]);
    await receiver.add(
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
        merged: 1,
        run: 'run',
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
    const { server, receiver, next } = await opened([ok], { secret: { read: () => secret } });
    await receiver.add(drifted);
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
    const { server, receiver, next } = await opened([ok]);
    const long = { type: 'TXT', name: 'x', content: '\u{1f600}'.repeat(10_000), priority: null, ttl: null };
    const differences = Array.from({ length: 30 }, (_, recordId) =>
      update({ recordId, current: long, desired: long }),
    );
    const templates = Array.from({ length: 50 }, (_, index) => ({
      template: `t${index}`,
      status: 'drifted' as const,
      differences,
    }));
    await receiver.add(passEvent(templates));
    await next('delivered');
    const message = notificationIn(server.seen[0]!);
    expect(server.seen[0]!.body.length).toBeLessThan(500_000);
    expect(message.changes).toHaveLength(20);
    expect(message.changes[0]).toMatchObject({ counts: { differences: 30 } });
    expect(message.changes[0]?.differences).toHaveLength(10);
    await next('delivered');
    await next('delivered');
    expect(
      server.seen.flatMap((request) => notificationIn(request).changes.map(({ template }) => template)),
    ).toEqual(templates.map(({ template }) => template).toSorted());
  });
});

describe('a receiver', () => {
  test.each<[string, Answer]>([
    ['answers with an error', status(500)],
    ['answers that the address is wrong', status(404)],
    ['redirects, which is not followed', status(307, '', { location: '/elsewhere' })],
    ['resets the connection', reset],
    ['asks for a moment', status(429, '', { 'retry-after': '0' })],
  ])('that %s gets the same message again', async (_, answer) => {
    const { server, receiver, counts, next, lines } = await opened([answer, answer, ok]);
    await receiver.add(drifted);
    await next('delivered');
    expect(counts).toEqual(['retried', 'retried', 'delivered']);
    expect(new Set(server.seen.map(({ body }) => body)).size).toBe(1);
    expect(new Set(server.seen.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(server.seen.map(({ path }) => path)).toEqual(server.seen.map(() => '/api/v1'));
    // What stays the same is said once.
    expect(lines.filter(({ msg }) => msg === 'notification not accepted; will retry')).toHaveLength(1);
  });

  test('that asks to wait gets nothing meanwhile, while others do', async () => {
    const patient = await opened([status(503, '', { 'retry-after': '3600' })]);
    const other = await opened([status(503), status(503), status(503), status(503), ok]);
    await patient.receiver.add(drifted);
    await patient.next('retried');
    await other.receiver.add(drifted);
    await other.next('delivered');
    expect(patient.server.seen).toHaveLength(1);
  });

  test('that does not answer in time gets the message again, with the same id', async () => {
    const { server, receiver, next, lines } = await opened([silence, ok], { timeout: 50 });
    await receiver.add(drifted);
    await next('delivered');
    const ids = server.seen.map(({ headers }) => headers['webhook-id']);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(1);
    expect(lines).toContainEqual(expect.objectContaining({ reason: 'no answer within 50 ms' }));
  });

  test('that was unreachable gets the first message when it is back, then the newest state of each template', async () => {
    const { server, receiver, next } = await opened([ok]);
    await server.close();
    await receiver.add(drifted);
    await next('retried');
    for (let pass = 0; pass < 100; pass += 1) await receiver.add(pass % 2 === 0 ? inSync : drifted);
    await receiver.add(passEvent([{ status: 'held' }]));
    server.open();
    await next('delivered');
    await next('delivered');
    expect(server.seen.map(eventsIn)).toEqual([['drift'], ['held']]);
    expect(notificationIn(server.seen[1]!).changes[0]).toMatchObject({ previous: 'drifted', merged: 101 });
  });

  test('that accepted a message never gets it again', async () => {
    const { server, receiver, next } = await opened([ok]);
    for (const one of [drifted, drifted, drifted]) {
      await receiver.add(one);
      if (server.seen.length === 0) await next('delivered');
    }
    await receiver.add(inSync);
    await next('delivered');
    expect(server.seen.map(eventsIn)).toEqual([['drift'], ['cleared']]);
  });

  test('that refuses a message still gets the next one', async () => {
    const { server, receiver, counts, next, lines } = await opened([
      status(400),
      status(400),
      status(400),
      ok,
    ]);
    await receiver.add(drifted);
    await next('dropped');
    await receiver.add(inSync);
    await next('delivered');
    expect(counts).toEqual(['retried', 'retried', 'dropped', 'delivered']);
    expect(eventsIn(server.seen.at(-1)!)).toEqual(['cleared']);
    expect(lines.find(({ level }) => level === 50)).toMatchObject({ reason: 'the receiver answered 400' });
  });

  test('whose address cannot be read gets the message when it can', async () => {
    let reads = 0;
    const { server, receiver, next, lines } = await opened([ok], {
      url: {
        read: () => {
          reads += 1;
          if (reads === 1) throw new UserError('notify.ops.url: cannot read /run/url (ENOENT)');
          return server.url;
        },
      },
    });
    await receiver.add(drifted);
    await next('delivered');
    expect(lines).toContainEqual(expect.objectContaining({ reason: expect.stringContaining('ENOENT') }));
  });

  test('with new settings gets the waiting messages', async () => {
    const { server, receiver, settings, next } = await opened([status(404)]);
    const other = await scriptedServer(ok);
    await receiver.add(drifted);
    await next('retried');
    receiver.configure({ ...settings, url: { read: () => other.url } });
    await next('delivered');
    expect(notificationIn(other.seen[0]!)).toEqual(notificationIn(server.seen[0]!));
  });

  test('of other clients gets nothing', async () => {
    const { server, receiver, next } = await opened([ok], { clients: ['bakery'] });
    await receiver.add(drifted);
    await receiver.add({ ...passEvent([{ status: 'held' }]), client: 'bakery' });
    await next('delivered');
    expect(server.seen.map(eventsIn)).toEqual([['held']]);
  });
});

describe('at shutdown', () => {
  test('a waiting message is tried at once', async () => {
    const { server, receiver, next, counts } = await opened(
      [status(500, '', { 'retry-after': '3600' }), ok],
      {},
      3_600_000,
    );
    await receiver.add(drifted);
    await next('retried');
    await receiver.add(passEvent([{ template: 'mail', status: 'held' }]));
    await receiver.close(5_000);
    expect(server.seen.map(eventsIn)).toEqual([['drift'], ['drift'], ['held']]);
    expect(counts).toEqual(['retried', 'delivered', 'delivered']);
  });

  test('the wait is limited', async () => {
    const { server, receiver, counts } = await opened([silence]);
    await receiver.add(drifted);
    await receiver.close(20);
    expect([server.seen.length, counts]).toEqual([1, ['retried']]);
  });

  test('a failing message is tried once and not again', async () => {
    const { server, receiver, next } = await opened([
      status(500, '', { 'retry-after': '3600' }),
      status(500),
    ]);
    await receiver.add(drifted);
    await next('retried');
    await receiver.close(5_000);
    expect(server.seen).toHaveLength(2);
    await receiver.add(inSync);
    expect(server.seen).toHaveLength(2);
  });
});
