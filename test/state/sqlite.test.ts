import { chmodSync, statSync } from 'node:fs';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { startChild } from './child.ts';
import { memoryContract } from './memory-contract.ts';
import { changesOf, newEntry, newFile, opened, finish, type OpenedMemory, historyOf } from './samples.ts';

memoryContract(() => {
  const file = newFile();
  return Promise.resolve((scope) => opened(file, scope));
});

it('has intents on disk when begin returns, for any end of the process', async () => {
  const file = newFile();
  const child = startChild(
    `const memory = await opened(process.argv[1]);
     for (;;) { const { id } = await memory.begin(${JSON.stringify(newEntry())}); console.log(id); }`,
    file,
  );
  const said: number[] = [];
  while (said.length < 50) said.push(Number(await child.line()));
  await child.kill('SIGKILL');
  const ids = (await (await opened(file)).journal()).map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(said));
  expect(ids).toEqual(ids.map((_, index) => index + 1));
});

it('limits the history, for any clock', async () => {
  const file = newFile();
  const write = async (at: number): Promise<OpenedMemory> => {
    const memory = await opened(file);
    const intent = await memory.begin(newEntry({ at }));
    await finish(memory, intent, { outcome: 'applied', recordId: 3, error: null }, changesOf());
    return memory;
  };
  await (await write(1)).close();
  const database = new Database(file);
  database.exec("UPDATE sqlite_sequence SET seq = 50000 WHERE name = 'history'");
  database.close();
  expect((await historyOf(await write(2))).map(({ at }) => at)).toEqual([2]);
});

it('is written by two processes at once without losing anything', async () => {
  const file = newFile();
  const script = `
    const memory = await opened(process.argv[1], process.argv[2]);
    const result = { outcome: 'applied', recordId: 1, error: null };
    for (let number = 0; number < 100; number += 1) {
      const entry = await memory.begin({ ...${JSON.stringify(newEntry())}, run: String(process.pid) });
      const history = [{ ...result, at: number, run: entry.run, write: entry.run + '/' + entry.id, template: 'web', after: { type: 'A', content: '192.0.2.1' } }];
      await memory.save({ ...${JSON.stringify(changesOf())}, left: [entry.id], history });
    }
    console.log('done');`;
  const scopes = ['one', 'two', 'two'];
  const children = scopes.map((scope) => startChild(script, file, scope));
  expect(await Promise.all(children.map((child) => child.line()))).toEqual(['done', 'done', 'done']);
  expect(await historyOf(await opened(file, 'one'))).toHaveLength(100);
  expect(await historyOf(await opened(file, 'two'))).toHaveLength(200);
});

describe('the file', () => {
  const modeOf = (file: string): number => statSync(file).mode & 0o777;

  it('is accessible to its owner only, with its folder and journals, for any umask', async () => {
    const file = newFile();
    const before = process.umask(0);
    try {
      const memory = await opened(file);
      await memory.save(changesOf());
    } finally {
      process.umask(before);
    }
    expect([file, `${file}-wal`, `${file}-shm`].map(modeOf)).toEqual([0o600, 0o600, 0o600]);
    expect(modeOf(file.replace('/memory.db', ''))).toBe(0o700);
  });

  it('is closed to others again if it was open to them', async () => {
    const file = newFile();
    await (await opened(file)).close();
    chmodSync(file, 0o644);
    await opened(file);
    expect(modeOf(file)).toBe(0o600);
  });
});
