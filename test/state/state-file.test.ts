import { copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'libsql';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { closeAtOnce } from '../../src/state/connection.ts';
import { fileStore } from '../../src/state/store.ts';
import type { Memory } from '../../src/state/memory.ts';
import { storeHandle } from '../../src/state/store-handle.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import { testClock } from '../clock.ts';
import { startChild } from './child.ts';
import { changesOf, clientsOf, newEntry, newFile, newFolder } from './samples.ts';

// As in a process of its own.
afterAll(closeAtOnce());

const lostPause = 3_600_000;

/** A process that goes on from pass to pass. */
const newProcess = (stateDir = newFolder()) => {
  const clock = testClock();
  const said: string[] = [];
  const store = fileStore(clock);
  onTestFinished(() => store.close());
  const handle = storeHandle(store, (message) => said.push(message));
  const owner = { stateDir, baseUrl: 'https://panel.example.net/api/v1', name: 'default' };
  const location = storeLocation(owner, 'token', false);
  const { signal } = new AbortController();
  const use = { timeout: 0, signal, onWait: () => undefined, lostPause };
  const pass = (task: (memory: Memory) => Promise<unknown> = () => Promise.resolve()) =>
    handle.write(location, use, async ({ memory, holdsAdds }) => {
      await task(memory);
      return { holdsAdds, journal: await memory.journal(), known: await memory.templates() };
    });
  return { clock, said, pass, file: location.file };
};

const write = async (memory: Memory): Promise<void> => {
  await memory.save(changesOf());
  await memory.begin(newEntry());
};

const copyByDatabase = (file: string, copy: string): void => {
  const database = new Database(file);
  database.exec(`VACUUM INTO '${copy}'`);
  database.close();
};

const lost = /^.*memory\.db was removed, emptied or replaced since this program used it last/;

describe('a state that', () => {
  it.each<[string, (file: string) => unknown, 'loses' | 'keeps']>([
    ['was removed', (file) => rmSync(file), 'loses'],
    ['went with its directory', (file) => rmSync(path.dirname(file), { recursive: true }), 'loses'],
    ['was emptied', (file) => truncateSync(file, 0), 'loses'],
    [
      'is replaced by one of another installation',
      async (file) => {
        const other = newProcess();
        await other.pass(write);
        for (const end of ['', '-wal']) copyFileSync(other.file + end, file + end);
      },
      'loses',
    ],
    [
      'is replaced by its own copy',
      (file) => {
        copyFileSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
      'keeps',
    ],
    ['is another kind of file', (file) => writeFileSync(file, 'no database '.repeat(500)), 'loses'],
    ['another process writes too', (file) => saveElsewhere(file), 'keeps'],
    ['has lost its journal', (file) => rmSync(`${file}-wal`), 'keeps'],
  ])('%s between two passes: %o %s what it knew', async (_, happen, how) => {
    const { clock, said, pass, file } = newProcess();
    await pass(write);
    said.length = 0;
    await happen(file);
    const next = await pass();
    if (how === 'keeps') {
      expect(next).toMatchObject({ holdsAdds: null, journal: [{}], known: [{}] });
      expect(said).toEqual([]);
      return;
    }
    const until = new Date(clock.now() + lostPause).toISOString();
    expect(said.at(-1)).toBe(next.holdsAdds);
    expect(next.holdsAdds).toMatch(/was removed, emptied or replaced|is damaged .* was moved to/);
    expect(next.holdsAdds).toContain(`: no adds before ${until}`);
    clock.forward(lostPause - 1);
    expect((await pass()).holdsAdds).toBe(next.holdsAdds);
    clock.forward(1);
    expect((await pass()).holdsAdds).toBeNull();
  });

  it('went back to an older copy is the same state, and lacks what was sent since', async () => {
    const { pass, file } = newProcess();
    await pass(write);
    copyByDatabase(file, `${file}.old`);
    await pass(write);
    rmSync(`${file}-wal`);
    renameSync(`${file}.old`, file);
    expect(await pass()).toMatchObject({ holdsAdds: expect.stringMatching(lost), journal: [{}] });
  });

  it('was overwritten by an older copy does not lack in silence what was sent since', async () => {
    const { pass, file } = newProcess();
    await pass(write);
    copyByDatabase(file, `${file}.old`);
    await pass(write);
    copyFileSync(`${file}.old`, file);
    const { holdsAdds, journal } = await pass();
    if (journal.length < 2) expect(holdsAdds).not.toBeNull();
    else expect(journal).toHaveLength(2);
  });

  it('lost its journal between two processes lacks what was sent, and says so', async () => {
    const file = path.join(newFolder(), 'memory.db');
    const child = startChild(
      `const memory = await opened(process.argv[1]);
       await memory.begin(${JSON.stringify(newEntry())});
       console.log('begun');
       setInterval(() => undefined, 1_000);`,
      file,
    );
    expect(await child.line()).toBe('begun');
    await child.kill('SIGKILL');
    rmSync(`${file}-wal`);
    const { holdsAdds } = await newProcess(path.dirname(file)).pass();
    expect(holdsAdds).toMatch(lost);
  });

  it('is lost during a pass takes nothing more of it', async () => {
    const { pass, file } = newProcess();
    await pass(async (memory) => {
      await write(memory);
      rmSync(file);
      for (const task of [() => memory.begin(newEntry()), () => memory.save(changesOf())])
        await expect(task()).rejects.toThrow(lost);
    }).catch(() => undefined);
    expect(await pass()).toMatchObject({ holdsAdds: expect.stringMatching(lost), journal: [] });
  });

  it('is being made by another process is waited for', async () => {
    const { pass, file } = newProcess();
    await saveElsewhere(file);
    const another = new Database(file);
    another.exec('PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE');
    setTimeout(() => another.exec('COMMIT'), 1);
    expect((await pass()).journal).toEqual([]);
    another.close();
  });
});

const saveElsewhere = async (file: string, client = 'other'): Promise<void> => {
  const child = startChild(
    `const memory = await opened(process.argv[1], process.argv[2]);
     for (let templateId = 1; templateId < 200; templateId += 1)
       await memory.save({ ...${JSON.stringify(changesOf())}, row: { templateId } });
     await memory.close();
     console.log('saved');`,
    file,
    client,
  );
  expect(await child.line()).toBe('saved');
};

describe('the state file of several clients', () => {
  it('tells what one of them and other processes have written', async () => {
    const file = newFile();
    const { memories } = await clientsOf(file, 'one', 'another');
    const [one, another] = memories;
    const revision = async () => (await one!.revisions!()).of(17);
    const before = await revision();
    await another!.save(changesOf());
    expect(await revision()).toBe(before);
    await one!.save(changesOf());
    const after = await revision();
    expect(after).not.toBe(before);
    await saveElsewhere(file, 'one');
    expect(await revision()).not.toBe(after);
  });
});
