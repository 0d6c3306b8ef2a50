import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { holdClient, lockFilesIn } from '../../src/state/client-locks.ts';
import { connect } from '../../src/state/connection.ts';
import { fileStoreHandle } from '../../src/state/file-store-handle.ts';
import { openMemory } from '../../src/state/sqlite.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import { baseUrl, identityContract, remember, stateOf, template } from './identity-contract.ts';

identityContract(() => Promise.resolve(fileStoreHandle));

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
