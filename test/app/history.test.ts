import path from 'node:path';
import { expect, it } from 'vitest';
import { storeLocation } from '../../src/state/store-location.ts';
import { newestWrites, type HistoryQuery } from '../../src/app/history.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { fileStore } from '../../src/state/store.ts';
import { changesOf, newEntry, newFolder, openedFor, finish } from '../state/samples.ts';

/** Writes at these times, one after the other, for each of some clients that share a state directory. */
const withWrites = async (times: Readonly<Record<string, readonly number[]>>) => {
  const stateDir = path.join(newFolder(), 'state');
  const store = fileStore(systemClock);
  const clients: Parameters<typeof newestWrites>[0][number][] = [];
  for (const [name, ofClient] of Object.entries(times)) {
    const place = { stateDir, baseUrl: 'https://panel.example.net', name };
    const location = storeLocation(place, `token-of-${name}`, false);
    const memory = await openedFor(location);
    for (const [index, at] of ofClient.entries()) {
      const intent = await memory.begin(newEntry({ at, run: `${name} ${index}`, template: `t${at}` }));
      await finish(memory, intent, { outcome: 'applied', recordId: 3, error: null }, changesOf());
    }
    clients.push({ settings: { name }, saved: (task) => store.read(location, task) });
  }
  const query = { templates: [], since: 0, outcome: null, limit: 1_000 };
  const newest = (changes: Partial<HistoryQuery> = {}) =>
    newestWrites(clients, { ...query, ...changes }, (value) => value);
  return { newest };
};

it.each([1, 2, 3, 7, 100])(
  'the newest writes of all clients, %i at most, are the last of all',
  async (limit) => {
    const { newest } = await withWrites({ b: [3, 3, 1, 3], a: [3, 2, 3], c: [], d: [1, 3] });
    const all = await newest();
    expect(new Set(all.map(({ run }) => run)).size).toBe(9);
    expect(all.map(({ at }) => Date.parse(at))).toEqual([1, 1, 2, 3, 3, 3, 3, 3, 3]);
    expect(await newest({ limit })).toEqual(all.slice(-limit));
  },
);

it('the newest writes are found behind others that do not match', async () => {
  const { newest } = await withWrites({ one: [3, 7, ...Array.from({ length: 10 }, (_, at) => 8 + at)] });
  const found = await newest({ templates: ['t3', 't7'], limit: 2 });
  expect(found.map(({ template }) => template)).toEqual(['t3', 't7']);
});
