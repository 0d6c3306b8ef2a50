import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { storeLocation } from '../../src/state/store-location.ts';
import { newestWrites, type HistoryQuery } from '../../src/app/history.ts';
import { readSettings } from '../../src/settings.ts';
import type { ClientSettings } from '../../src/settings/client.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { fileStore } from '../../src/state/store.ts';
import { changesOf, newEntry, newFolder, openedFor, finish } from '../state/samples.ts';

/** Clients that share a state directory, as the settings have them. */
const clientsIn = (stateDir: string, names: readonly string[]): readonly ClientSettings[] => {
  const flags = { stateDir, baseUrl: 'https://panel.example.net' };
  const env = { DNS_SYNC_USER_TOKEN: 'user-token', DNS_SYNC_CLIENT_TOKEN: 'client-token' };
  const [client] = readSettings({
    flags,
    needsService: true,
    env,
    cwd: stateDir,
  }).clients;
  return names.map((name) => ({
    ...client!,
    name,
    tokens: { read: () => ({ userToken: 'user-token', clientToken: `token-of-${name}` }) },
  }));
};

/** Writes at these times, one after the other, for each client. */
const withWrites = async (times: Readonly<Record<string, readonly number[]>>) => {
  const clients = clientsIn(path.join(newFolder(), 'state'), Object.keys(times));
  for (const client of clients) {
    const memory = await openedFor(storeLocation(client, client.tokens.read().clientToken, false));
    for (const [index, at] of times[client.name]!.entries()) {
      const intent = await memory.begin(newEntry({ at, run: `${client.name} ${index}`, template: `t${at}` }));
      await finish(memory, intent, { outcome: 'applied', recordId: 3, error: null }, changesOf());
    }
  }
  const query = { templates: [], since: 0, outcome: null, limit: 1_000 };
  const newest = (changes: Partial<HistoryQuery> = {}) =>
    newestWrites(
      {
        clients,
        isSandbox: false,
        query: { ...query, ...changes },
        redact: (value) => value,
      },
      fileStore(systemClock),
    );
  return { newest };
};

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('the newest writes', () => {
  it.each([1, 2, 3, 7, 100])('of all clients, %i at most, are the last of all', async (limit) => {
    const { newest } = await withWrites({ b: [3, 3, 1, 3], a: [3, 2, 3], c: [], d: [1, 3] });
    const all = await newest();
    expect(new Set(all.map(({ run }) => run)).size).toBe(9);
    expect(all.map(({ at }) => Date.parse(at))).toEqual([1, 1, 2, 3, 3, 3, 3, 3, 3]);
    expect(await newest({ limit })).toEqual(all.slice(-limit));
  });

  it('are found behind any number of others that do not match', async () => {
    const { newest } = await withWrites({ one: range(1_050) });
    const found = await newest({ templates: ['t3', 't7'], limit: 2 });
    expect(found.map(({ template }) => template)).toEqual(['t3', 't7']);
  });
});
