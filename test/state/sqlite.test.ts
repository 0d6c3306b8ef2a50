import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'libsql';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { closeAtOnce, connect } from '../../src/state/connection.ts';
import { fileStore } from '../../src/state/store.ts';
import { testClock } from '../clock.ts';
import { startChild } from './child.ts';
import { processesOn, storeContract } from './contract.ts';
import {
  changesOf,
  clientsOf,
  finish,
  historyOf,
  newEntry,
  newFile,
  newFolder,
  opened,
  rememberedRecord,
  rowOf,
} from './samples.ts';

// As in a process of its own.
afterAll(closeAtOnce());

storeContract(() => Promise.resolve(() => fileStore(systemClock)));

it('forgets after a day that another client has compared a template, and not before', async () => {
  const clock = testClock();
  const { write } = processesOn(() => fileStore(clock));
  const other = { name: 'b', token: 'b' };
  await write({}, (memory) => memory.compare([17]));
  // Whoever goes on comparing it keeps it.
  clock.forward(3_600_000);
  await write({}, (memory) => memory.compare([17]));
  clock.forward(86_400_000 - 1);
  expect(await write(other, (memory) => memory.compare([17]))).toEqual(new Map([[17, 'default']]));
  clock.forward(2);
  expect(await write(other, (memory) => memory.compare([17]))).toEqual(new Map());
  expect(await write({}, (memory) => memory.compare([17]))).toEqual(new Map([[17, 'b']]));
});

it('stores no part of a token', async () => {
  const { stateDir, write } = processesOn(() => fileStore(systemClock));
  await write({ token: 'a-very-secret-token' }, (memory) => memory.save(changesOf()));
  const connection = connect(path.join(stateDir, 'memory.db'), { timeout: 0 });
  onTestFinished(() => connection.close());
  const rows = connection.all('SELECT * FROM clients');
  expect(JSON.stringify([rows, readdirSync(stateDir)])).not.toContain('secret');
});

it('limits the history of all clients together', async () => {
  const { stateDir, write, history } = processesOn(() => fileStore(systemClock));
  const note = (at: number): Promise<void> =>
    write({}, async (memory) => finish(memory, await memory.begin(newEntry({ at })), applied));
  await note(1);
  const database = new Database(path.join(stateDir, 'memory.db'));
  database.exec("UPDATE sqlite_sequence SET seq = 50000 WHERE name = 'history'");
  database.close();
  await note(2);
  expect((await history()).map(({ at }) => at)).toEqual([2]);
});

const applied = { outcome: 'applied', recordId: 1, error: null } as const;

describe('the file', () => {
  const modeOf = (file: string): number => statSync(file).mode & 0o777;

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

  it('is written by several processes at once without losing anything', async () => {
    const file = newFile();
    const script = `
      const memory = await opened(process.argv[1], process.argv[2]);
      for (let number = 0; number < 100; number += 1) {
        const entry = await memory.begin({ ...${JSON.stringify(newEntry())}, run: String(process.pid) });
        const history = [{ at: number, write: entry.run + '/' + entry.id, template: 'web' }];
        await memory.save({ ...${JSON.stringify(changesOf())}, left: [entry.id], history });
      }
      console.log('done');`;
    const children = ['one', 'two', 'two'].map((scope) => startChild(script, file, scope));
    for (const child of children) expect(await child.line()).toBe('done');
    for (const [name, writes] of [
      ['one', 100],
      ['two', 200],
    ] as const)
      expect(await historyOf(await opened(file, name))).toHaveLength(writes);
  });

  it('is accessible to its owner only, with its folder and journals, for any umask, and again if it was not', async () => {
    const file = newFile();
    const before = process.umask(0);
    try {
      const memory = await opened(file);
      await memory.save(changesOf());
      expect([file, `${file}-wal`, `${file}-shm`].map(modeOf)).toEqual([0o600, 0o600, 0o600]);
      await memory.close();
    } finally {
      process.umask(before);
    }
    expect(modeOf(path.dirname(file))).toBe(0o700);
    chmodSync(file, 0o644);
    await opened(file);
    expect(modeOf(file)).toBe(0o600);
  });

  it('may be a link, whose target keeps its mode', async () => {
    const file = newFile();
    const target = path.join(newFolder(), 'elsewhere.db');
    writeFileSync(target, '');
    chmodSync(target, 0o644);
    mkdirSync(path.dirname(file));
    symlinkSync(target, file);
    await (await opened(file)).save(changesOf());
    expect(modeOf(target)).toBe(0o644);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(await (await opened(target)).templates()).toHaveLength(1);
  });

  it('is no folder, and its folder no file', async () => {
    const file = newFile();
    mkdirSync(file, { recursive: true });
    await expect(opened(file)).rejects.toThrow(`${file} is a directory: remove it`);
    const below = path.join(newFolder(), 'taken', 'memory.db');
    writeFileSync(path.dirname(below), '');
    await expect(opened(below)).rejects.toThrow(below);
  });

  it.runIf(process.platform === 'linux')('is not open once it is closed, and leaves no journal', async () => {
    const file = newFile();
    /** What this process holds open of it. */
    const open = (): string[] =>
      readdirSync('/proc/self/fd').flatMap((descriptor) => {
        try {
          const held = readlinkSync(`/proc/self/fd/${descriptor}`);
          return held.startsWith(path.dirname(file)) ? [held] : [];
        } catch {
          return [];
        }
      });
    const memory = await opened(file);
    await finish(memory, await memory.begin(newEntry()), applied);
    await historyOf(memory);
    await memory.revisions?.();
    expect(open()).not.toEqual([]);
    await memory.close();
    expect(open()).toEqual([]);
    expect(readdirSync(path.dirname(file))).toEqual(['memory.db', 'memory.db.mark']);
    truncateSync(file, statSync(file).size / 2);
    await expect(opened(file)).rejects.toThrow('damaged');
    expect(open()).toEqual([]);
  });
});

describe('a save of many records', () => {
  /** As many as take a hundred milliseconds. */
  const records = Array.from({ length: 8_000 }, (_, index) => rememberedRecord(`A host${index}`));
  const changes = changesOf({ records });
  const { templateId } = rowOf();

  it('lets other tasks run before it ends, and closing the file waits for that', async () => {
    const file = newFile();
    const memory = await opened(file);
    const state = { isSaved: false };
    const saved = memory.save(changes).then(() => (state.isSaved = true));
    await setImmediate();
    const closed = memory.close();
    let turns = 0;
    for (; !state.isSaved; turns += 1) await setImmediate();
    await Promise.all([saved, closed]);
    expect(turns).toBeGreaterThan(3);
    expect((await (await opened(file)).template(templateId))?.records).toHaveLength(records.length);
  });

  it.each([
    ['nothing reads a part of it, and nothing is written among it', records, records.length],
    [
      'nothing of it stays where it fails, but what others begin meanwhile',
      [...records, { ...rememberedRecord('A broken'), key: undefined as never }],
      null,
    ],
  ])('%s', async (_, all, saved) => {
    const { memories } = await clientsOf(newFile(), 'client', 'client');
    const [memory, other] = memories;
    const failure = memory!.save({ ...changes, records: all }).then(() => null, String);
    await setImmediate();
    const [read, begun] = await Promise.all([other!.template(templateId), other!.begin(newEntry())]);
    expect(await failure).toEqual(saved === null ? expect.stringContaining('NOT NULL') : null);
    expect(read?.records.length ?? null).toBe(saved);
    expect(await memory!.journal()).toEqual([begun]);
  });
});
