import { EventEmitter, once } from 'node:events';
import * as fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { addNews, nextMessage, type Delivery } from '../../src/notify/outbox.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { notificationSchema, type Notification } from '../../src/notify/schema.ts';
import type { Program } from '../program.ts';
import { scriptedServer, silence, status } from '../wire/scripted-server.ts';
import {
  another,
  drifted,
  inSync,
  newOutbox,
  passEvent,
  receiver as receiverOf,
  update,
} from '../notify/pass-events.ts';
import { newDatabaseUrl, storeAt } from './databases.ts';
import { startPostgres } from './postgres.ts';
import { allPassed, linesOf, newFleet, passAgain } from './fleet.ts';

const often = '*/10 * * * * *';

/** Somebody who is told, and answers only while `isUp`. */
const startReceiver = async () => {
  const arrivals = new EventEmitter().setMaxListeners(0);
  const state = { isUp: true };
  const messages: Notification[] = [];
  const { url } = await scriptedServer((response, request) => {
    messages.push(notificationSchema.parse(JSON.parse(request.body)));
    arrivals.emit('arrived');
    return (state.isUp ? status(204) : silence)(response, request);
  });
  /** Each change that was told: `client-1 drift`. */
  const told = (): string[] =>
    messages.flatMap(({ changes }) => changes.map(({ client, event }) => `${client} ${event}`));
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await once(arrivals, 'arrived');
  };
  return { url, state, messages, told, until };
};

/** A fleet that only looks on, and tells what it sees. */
const newTellingFleet = async () => {
  const receiver = await startReceiver();
  const fleet = await newFleet({
    schedule: often,
    leaseDuration: 3_000,
    count: 6,
    config: 'mode: report\nnotify:\n  ops: {type: webhook, url: {env: HOOK}, allowInsecure: true}\n',
  });
  Object.assign(fleet.env, { HOOK: receiver.url });
  return { receiver, ...fleet };
};

/** How many changes a daemon has told, and saved as told. */
const deliveredBy = (program: Program): number =>
  linesOf(program)
    .filter(({ event }) => event === 'notify.delivered')
    .reduce((sum, { changes }) => sum + Number(changes), 0);

/** The daemon that has told them all. */
const senderOf = async (daemons: readonly Program[], count: number): Promise<Program> => {
  const isSender = async (one: Program): Promise<Program> => {
    while (deliveredBy(one) < count) await one.event('notify.delivered');
    return one;
  };
  return Promise.any(daemons.map(isSender));
};

const each = (clients: readonly string[], event: string): string[] =>
  clients.map((client) => `${client} ${event}`).toSorted();

describe('a receiver of several processes', () => {
  it('is told each change once, also after the process that told it was killed', async () => {
    const { receiver, clients, describeAll, daemon } = await newTellingFleet();
    const both = [daemon(), daemon()];
    await allPassed(clients, both);
    await describeAll(['192.0.2.1', '192.0.2.2']);
    const sender = await senderOf(both, clients.length);
    const other = both.find((one) => one !== sender) ?? expect.fail('there are two');
    sender.signal('SIGKILL');
    await sender.ended;
    await passAgain(clients, [other]);
    await describeAll(['192.0.2.1']);
    await receiver.until(
      () => receiver.told().filter((one) => one.endsWith('cleared')).length >= clients.length,
    );
    await passAgain(clients, [other]);
    expect(receiver.told().toSorted()).toEqual(
      [...each(clients, 'drift'), ...each(clients, 'cleared')].toSorted(),
    );
  });

  it('gets again, with its id, what a process has died over', async () => {
    const { receiver, clients, describeAll, daemon } = await newTellingFleet();
    const both = [daemon(), daemon()];
    await allPassed(clients, both);
    receiver.state.isUp = false;
    await describeAll(['192.0.2.1', '192.0.2.2']);
    await receiver.until(() => receiver.messages.length > 0);
    receiver.state.isUp = true;
    for (const one of both) one.signal('SIGKILL');
    const successor = daemon();
    const again = (): Notification[] =>
      receiver.messages.filter(({ delivery }) => delivery === receiver.messages[0]?.delivery).slice(1);
    await receiver.until(() => again().length > 0 && new Set(receiver.told()).size === clients.length);
    await passAgain(clients, [successor]);
    // Which of those that wait is sent first is open where two processes have added them at the same moment.
    const [first, ...others] = receiver.messages;
    expect(again()).toEqual([first]);
    const toldOnce = others.flatMap(({ changes }) => changes.map(({ client }) => client));
    expect(toldOnce.toSorted()).toEqual([...clients].toSorted());
  });
});

/** That of one process, which takes part. */
const outboxStore = async (url: string) => {
  const store = storeAt(url, 1_000, true);
  onTestFinished(() => store.close());
  await store.lease.join();
  const lookInterval = 5_000;
  const tables = store.tables({ file: '' });
  return { ...tables, lookInterval, isSender: () => store.lease.isFirst, clients: () => null };
};

const heardIn = (delivery: Delivery | null): string[] =>
  (delivery?.changes ?? []).map(({ template, event, previous }) => [template, event, previous].join(' '));

describe('an outbox that processes share', () => {
  it('has the same messages as one of a process alone, whoever adds to it', async () => {
    const url = await newDatabaseUrl();
    const [sender, other] = [newOutbox(await outboxStore(url)), newOutbox(await outboxStore(url))];
    const local = newOutbox();
    const kinds = [inSync, drifted, failed, held, mended];
    const dice = fc.sample(fc.tuple(fc.nat(kinds.length - 1), fc.boolean(), fc.nat(2)), 200);
    for (const [kind, isOther, step] of dice) {
      const event = kinds[kind]!;
      await local.add(event);
      await (isOther ? other : sender).add(event);
      if (step === 0) continue;
      const next = await sender.next();
      const same = await local.next();
      expect(heardIn(next)).toEqual(heardIn(same));
      if (step === 1 || next === null || same === null) continue;
      await sender.done(next.id);
      await local.done(same.id);
    }
  });

  it('is told by the next pass what PostgreSQL did not take', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const store = await outboxStore(server.url);
    const told = await startReceiver();
    const notifier = new Notifier({
      receivers: [receiverOf({ url: { read: () => told.url, place: '' } })],
      store,
      redact: (value) => value,
      log: pino({ level: 'silent' }),
      count: () => undefined,
    });
    onTestFinished(() => notifier.close(0));
    await server.stop('SIGQUIT');
    await notifier.publish(drifted);
    await server.start();
    await notifier.publish(another(drifted));
    await told.until(() => told.told().length > 0);
    expect(told.told()).toEqual(['acme drift']);
  });

  it('lets no pass wait for that of another client', async () => {
    const url = await newDatabaseUrl();
    const [one, other] = [await outboxStore(url), await outboxStore(url)];
    const outbox = newOutbox(one);
    await outbox.add(drifted);
    await outbox.done((await outbox.next())?.id ?? '');
    let release = (): void => undefined;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    const running = one.transaction(async (query) => {
      await addNews({ ...one, query, transaction: (task) => task(query) }, another(inSync), [receiverOf()]);
      await isReleased;
    });
    await addNews(other, { ...drifted, client: 'bakery' }, [receiverOf()]);
    expect((await nextMessage(other, 'ops'))?.changes.map(({ client }) => client)).toEqual(['bakery']);
    release();
    await running;
  });

  it('goes by the clock of the database', async () => {
    const url = await newDatabaseUrl();
    const [store, ahead] = [await outboxStore(url), await outboxStore(url)];
    await addNews(store, drifted, [receiverOf({ after: 600_000 })]);
    vi.setSystemTime(Date.now() + 3_600_000);
    onTestFinished(() => void vi.useRealTimers());
    await addNews(ahead, another(drifted), [receiverOf({ after: 600_000 })]);
    expect(await nextMessage(store, 'ops')).toBeNull();
  });
});

const held = passEvent([{ status: 'held', message: 'Why.' }]);
const failed = passEvent([{ status: 'failed', differences: [update({ outcome: 'failed' })] }]);
const mended = passEvent([{ differences: [update({ outcome: 'applied' })] }]);
