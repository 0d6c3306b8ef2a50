import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { holdClient, lockFilesIn } from '../../src/state/client-locks.ts';
import { connect } from '../../src/state/connection.ts';
import { fileStoreHandle } from '../../src/state/file-store-handle.ts';
import { openMemory } from '../../src/state/sqlite.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import { makePrivateFile } from '../../src/state/private-file.ts';
import { baseUrl, identityContract, remember, stateOf, template } from './identity-contract.ts';
import { rowOf, intentOf, rememberedRecord } from './samples.ts';

identityContract(() => Promise.resolve(fileStoreHandle));

it('keeps intents, bindings and history of a file of an earlier version', async () => {
  const { stateDir, write } = stateOf(fileStoreHandle);
  const { file, digest } = storeLocation({ stateDir, baseUrl, name: 'default' }, 'old', false);
  makePrivateFile(file);
  const connection = connect(file, { timeout: 0 });
  connection.exec(firstSchema);
  const record = rememberedRecord('a', { recordId: 1 });
  const entry = { at: Date.now(), template: 'standard-web', outcome: 'applied' };
  connection.run('INSERT INTO templates VALUES (?, 17, ?)', digest, JSON.stringify(rowOf()));
  connection.run('INSERT INTO records VALUES (?, 17, ?, ?)', digest, 'a', JSON.stringify(record));
  connection.run('INSERT INTO intents (scope, body) VALUES (?, ?)', digest, JSON.stringify(intentOf()));
  connection.run(
    'INSERT INTO history (scope, at, template, outcome, body) VALUES (?, ?, ?, ?, ?)',
    digest,
    entry.at,
    entry.template,
    entry.outcome,
    JSON.stringify(entry),
  );
  await connection.close();

  // The token may have been rotated together with the version.
  for (const token of ['new', 'old'])
    await write(token, [template(17, [1])], async (memory) => {
      expect(await memory.openIntents()).toEqual([{ ...intentOf(), id: 1 }]);
      expect(await memory.template(17)).toEqual({ row: rowOf(), records: [record] });
      expect(await memory.history()).toEqual([entry]);
    });
});

it('takes the locks of several tokens in one order, so that two passes never wait for each other', async () => {
  const { stateDir, write } = stateOf(fileStoreHandle);
  await write('e', [template(17, [])], remember(17, [1]));
  const shown = [template(17, [1])];
  // Their digests come before and after that one.
  for (const token of ['a', 'b', 'c']) {
    const location = storeLocation({ stateDir, baseUrl, name: 'default' }, token, false);
    const taken: string[] = [];
    const memory = await openMemory(location.file, location.digest);
    const { locks } = await holdClient(
      location,
      { timeout: 0, signal: new AbortController().signal, onWait: () => undefined },
      () => Promise.resolve(shown),
      {
        take: (name, waiting) => {
          taken.push(name);
          return lockFilesIn(stateDir)(name, waiting);
        },
        onFirst: () => undefined,
        use: (task) => task(memory),
      },
    );
    await locks.release();
    await memory.close();
    const both = taken.filter((name) => name.startsWith('lock-')).slice(-2);
    expect(both).toHaveLength(2);
    expect(both).toEqual(both.toSorted());
  }
});

it('stores no part of a token', async () => {
  const { stateDir, write } = stateOf(fileStoreHandle);
  await write('a-very-secret-token', [template(17, [1])], remember(17, [1]));
  const connection = connect(path.join(stateDir, 'memory.db'), { timeout: 0 });
  onTestFinished(() => connection.close());
  const rows = ['clients', 'tokens'].flatMap((table) => connection.all(`SELECT * FROM ${table}`));
  expect(JSON.stringify([rows, readdirSync(stateDir)])).not.toContain('secret');
});

/** As the version before kept it. */
const firstSchema = `
  CREATE TABLE templates (
    scope TEXT NOT NULL, template_id INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (scope, template_id)) WITHOUT ROWID;
  CREATE TABLE records (
    scope TEXT NOT NULL, template_id INTEGER NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (scope, template_id, key)) WITHOUT ROWID;
  CREATE TABLE intents (id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, body TEXT NOT NULL);
  CREATE TABLE history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, at INTEGER NOT NULL,
    template TEXT NOT NULL, outcome TEXT NOT NULL, body TEXT NOT NULL);
  CREATE INDEX history_by_time ON history (scope, at);
  PRAGMA user_version = 1;`;
