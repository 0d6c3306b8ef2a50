import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { giveFile, takeIntoFile } from '../../src/state/copy-files.ts';
import { storeFileIn } from '../../src/state/store-location.ts';
import { giveFromPostgres, takeIntoPostgres } from '../../src/cluster/postgres/copy.ts';
import { acquireLease } from '../../src/cluster/postgres/lease.ts';
import { openPostgresMemory } from '../../src/cluster/postgres/memory.ts';
import type { ClientMemory } from '../../src/state/client-memory.ts';
import { openMemory } from '../../src/state/sqlite.ts';
import { changesOf, rowOf, intentOf, newFolder, rememberedRecord } from '../state/samples.ts';
import { newDatabase } from './databases.ts';

const baseUrl = 'https://panel.example.net/api/v1';
const waiting = { timeout: 0, signal: new AbortController().signal, onWait: () => undefined };

/** Two clients with all that can be remembered of one. */
const newState = async (): Promise<string> => {
  const stateDir = path.join(newFolder(), 'state');
  for (const digest of ['one', 'two']) {
    const memory = await openMemory(storeFileIn(stateDir), digest);
    await memory.clients.learn({ scope: digest, baseUrl, name: digest }, [17, 18]);
    const records = Array.from({ length: 1_200 }, (_, at) => rememberedRecord(`TXT ${digest}\u0000${at}`));
    await memory.save(changesOf({ row: rowOf({ file: `${digest}.yaml` }), records }));
    const ended = await memory.begin(intentOf({ run: digest }));
    await memory.finish(ended, { outcome: 'applied', recordId: 7, error: null }, changesOf());
    for (const key of ['a', 'b']) await memory.begin(intentOf({ key, run: digest }));
    await memory.close();
  }
  return stateDir;
};

/** All that a client remembers, whatever ids a store gave. */
const contentOf = async (memory: ClientMemory) => {
  const stored = await memory.template(17);
  const content = {
    client: await memory.identify(),
    row: stored?.row,
    records: stored?.records.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    intents: (await memory.openIntents()).map((intent) => ({ ...intent, id: 0 })),
    history: await memory.history(),
  };
  await memory.close();
  return content;
};

const inFile = async (stateDir: string) =>
  Promise.all(
    ['one', 'two'].map(async (digest) => contentOf(await openMemory(storeFileIn(stateDir), digest))),
  );

describe('the state of a state directory', () => {
  it('moves to PostgreSQL and back, with open intents, and is never in two places', async () => {
    const stateDir = await newState();
    const before = await inFile(stateDir);
    expect(before[0]?.intents).toHaveLength(4);
    const database = await newDatabase();
    const aside = await giveFile(stateDir, waiting, (batches) => takeIntoPostgres(database, batches));
    expect(existsSync(storeFileIn(stateDir))).toBe(false);
    expect(existsSync(aside!)).toBe(true);
    const shared = ['one', 'two'].map(async (digest) => contentOf(openPostgresMemory(database, digest)));
    expect(await Promise.all(shared)).toEqual(before);

    await giveFromPostgres(database, (batches) => takeIntoFile(stateDir, batches));
    expect(await inFile(stateDir)).toEqual(before);
    expect(await openPostgresMemory(database, 'one').templates()).toEqual([]);
  });

  it('is not copied over existing state', async () => {
    const database = await newDatabase();
    await openPostgresMemory(database, 'two').clients.learn({ scope: 'two', baseUrl, name: null }, []);
    const stateDir = await newState();
    const copied = giveFile(stateDir, waiting, (batches) => takeIntoPostgres(database, batches));
    await expect(copied).rejects.toThrow(
      'already has the state of 1 of these clients, so nothing was copied',
    );
    expect(await openPostgresMemory(database, 'one').history()).toEqual([]);
    expect((await inFile(stateDir))[0]?.history).toHaveLength(1);
    await expect(giveFromPostgres(database, (batches) => takeIntoFile(stateDir, batches))).rejects.toThrow(
      'already holds the state of clients',
    );
    expect(await openPostgresMemory(database, 'two').identify()).not.toBeNull();
  });

  it('is not copied while a process uses it', async () => {
    const database = await newDatabase();
    const lease = await acquireLease(database, { ...waiting, name: 'lock-one', duration: 30_000 });
    const stateDir = await newState();
    const copied = giveFile(stateDir, waiting, (batches) => takeIntoPostgres(database, batches));
    await expect(copied).rejects.toThrow(`another process is using this state: process ${process.pid}`);
    await lease.release();
    expect(existsSync(storeFileIn(stateDir))).toBe(true);
  });
});
