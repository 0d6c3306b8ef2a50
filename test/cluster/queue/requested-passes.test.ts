import { once, EventEmitter } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { WaitingPass } from '../../../src/cluster/pass-queue.ts';
import { RequestedPasses, type RequestedPassesOptions } from '../../../src/cluster/requested-passes.ts';

const passOf = (client: string, failures = 0): WaitingPass => ({
  client,
  server: 'panel.example.net',
  trigger: 'file-change',
  failures,
});

/** A queue that takes what `mayTake` allows. `all` resolves when it has taken so many. */
const queueFor = (mayTake: () => boolean) => {
  const taken: WaitingPass[] = [];
  const events = new EventEmitter();
  let [open, most] = [0, 0];
  const put: RequestedPassesOptions['put'] = async (pass) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    if (!mayTake()) return null;
    return String(taken.push(pass));
  };
  const onPut = (): boolean => events.emit('put');
  const requests = new RequestedPasses({ put, onPut: () => void onPut(), pause: 1 });
  onTestFinished(() => requests.close());
  const all = async (count: number): Promise<readonly WaitingPass[]> => {
    while (taken.length < count) await once(events, 'put');
    return taken;
  };
  return { requests, taken, all, most: () => most };
};

test('a thousand requests at once arrive a few at a time, those that fail too', async () => {
  let tries = 0;
  const { requests, all, most } = queueFor(() => (tries += 1) % 5 !== 0);
  const clients = Array.from({ length: 1_000 }, (_, at) => `client-${at}`);
  for (const client of clients) void requests.add(passOf(client));
  const taken = await all(clients.length);
  expect(new Set(taken.map(({ client }) => client))).toEqual(new Set(clients));
  expect(taken).toHaveLength(clients.length);
  expect(most()).toBe(4);
});

test('a request that waits is replaced by a newer one of its client', async () => {
  let tries = 0;
  const { requests, all } = queueFor(() => (tries += 1) > 2);
  void requests.add(passOf('one', 1));
  void requests.add(passOf('two', 1));
  void requests.add(passOf('one', 2));
  expect(await all(2)).toEqual([passOf('one', 2), passOf('two', 1)]);
});

test('a newer request that comes while one is on its way is put too, once', async () => {
  let added: (() => void) | null = null;
  const { requests, taken, all } = queueFor(() => {
    added?.();
    added = null;
    return true;
  });
  added = () => void requests.add(passOf('one', 2));
  void requests.add(passOf('one', 1));
  await all(2);
  await requests.close();
  expect(taken).toEqual([passOf('one', 1), passOf('one', 2)]);
});

test('what waits when it is closed is put first, unless that fails', async () => {
  const open = queueFor(() => true);
  const clients = Array.from({ length: 10 }, (_, at) => `client-${at}`);
  for (const client of clients) void open.requests.add(passOf(client));
  await open.requests.close();
  expect(open.taken).toHaveLength(clients.length);

  let tries = 0;
  const shut = queueFor(() => {
    tries += 1;
    return false;
  });
  for (const client of clients) void shut.requests.add(passOf(client));
  await shut.requests.close();
  expect(tries).toBeLessThan(clients.length);
});
