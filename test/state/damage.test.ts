import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import Database from 'libsql';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { closeAtOnce } from '../../src/state/connection.ts';
import { DamagedMemoryError } from '../../src/state/database.ts';
import { MemoryError, type Memory } from '../../src/state/memory.ts';
import { fileStore } from '../../src/state/store.ts';
import { storeHandle } from '../../src/state/store-handle.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import { testClock } from '../clock.ts';
import { startChild } from './child.ts';
import { changesOf, finish, newEntry, newFile, newFolder, opened, rememberedRecord } from './samples.ts';

// As in a process of its own.
afterAll(closeAtOnce());

const baseUrl = 'https://panel.example.net/api/v1';

/** A state of some size with a suspension, whole and closed, in one file. */
const filled = async (): Promise<string> => {
  const file = newFile();
  const memory = await opened(file);
  const records = Array.from({ length: 60 }, (_, index) => rememberedRecord(`A www${index}  1`));
  await memory.save(changesOf({ records }));
  for (let at = 0; at < 10; at += 1) {
    const intent = await memory.begin(newEntry({ at }));
    if (at % 2 === 0)
      await finish(memory, intent, { outcome: 'applied', recordId: 1, error: null }, changesOf());
  }
  await memory.suspend({ by: 'ann', reason: 'moving', duration: null, templates: null });
  await memory.close();
  return file;
};

/** A pass of a process of its own, and another one where a row is found that cannot be read. */
const passOver = async (file: string, task: (memory: Memory) => Promise<unknown> = use) => {
  const said: [string, string | undefined][] = [];
  const store = fileStore(testClock());
  const { signal } = new AbortController();
  const waiting = { timeout: 0, signal, onWait: () => undefined, lostPause: 60_000 };
  const owner = { stateDir: path.dirname(file), baseUrl, name: 'client' };
  const location = storeLocation(owner, 'token', false);
  try {
    const handle = storeHandle(store, (message, level) => said.push([message, level]));
    const pass = () =>
      handle.write(location, waiting, async ({ memory, holdsAdds }) => {
        const suspensions = (await memory.suspensions()).length;
        const entries = (await memory.journal()).length;
        await task(memory);
        return { suspensions, entries, holdsAdds };
      });
    const found = await pass().catch((error: unknown) => {
      if (!(error instanceof DamagedMemoryError)) throw error;
      expect(error.message).toContain('it was moved to');
      return pass();
    });
    return { ...found, said };
  } finally {
    await store.close();
  }
};

/** All that a pass does with a memory. */
const use = async (memory: Memory): Promise<void> => {
  for (const { templateId } of await memory.templates()) await memory.template(templateId);
  const [open] = await memory.journal();
  const intent = open ?? (await memory.begin(newEntry()));
  await finish(memory, intent, { outcome: 'failed', recordId: null, error: null }, changesOf());
};

/** A format that SQLite knows of, and does not write. */
const whyUnusable = (error: unknown): string => {
  if (error instanceof MemoryError && !(error instanceof DamagedMemoryError)) return error.message;
  throw error;
};

/** What was not yet in the file goes too. */
const alone = (file: string, content: Buffer): void => {
  for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  writeFileSync(file, content);
};

const meddle = (file: string, sql: string): void => {
  const database = new Database(file);
  database.exec(`${sql}; PRAGMA wal_checkpoint(TRUNCATE)`);
  database.close();
};

const setBytes = (file: string, change: (whole: Buffer) => Buffer): void =>
  writeFileSync(file, change(readFileSync(file)));

/** `after`: a text before it, where the same may be left over elsewhere. */
const badText = (whole: Buffer, text: string, after = ''): Buffer => {
  const at = whole.indexOf(text, whole.indexOf(after));
  expect(at).toBeGreaterThan(0);
  whole[at] = 0xff;
  return whole;
};

/** As version 0.1 made it, as far as anything is read of it. */
const ofFirstEdition = `DROP TABLE clients; CREATE TABLE clients (scope TEXT PRIMARY KEY, body TEXT NOT NULL);
  PRAGMA user_version = 3`;

describe('a state file', () => {
  it.each<[string, (file: string) => void, string, 'kept' | 'gone']>([
    [
      'with a page of zeros',
      (file) => setBytes(file, (whole) => whole.fill(0, 8_192, 12_288)),
      'damaged',
      'kept',
    ],
    ['that is text', (file) => writeFileSync(file, 'no database '.repeat(500)), 'damaged', 'gone'],
    [
      'of another program with our number',
      (file) => setOther(file, 'CREATE TABLE notes (text); PRAGMA user_version = 8'),
      'damaged',
      'gone',
    ],
    [
      'with a trigger',
      (file) => meddle(file, 'CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM journal; END'),
      'damaged',
      'kept',
    ],
    ['without a table', (file) => meddle(file, 'DROP TABLE journal'), 'damaged', 'kept'],
    [
      'with a row that is null',
      (file) => meddle(file, "UPDATE templates SET body = 'null'"),
      'damaged',
      'kept',
    ],
    [
      'with a row that is no JSON',
      (file) =>
        setBytes(file, (whole) => {
          whole.write('!', whole.indexOf('{"key":"A www30'));
          return whole;
        }),
      'damaged',
      'kept',
    ],
    [
      'with a text that is not UTF-8',
      (file) => setBytes(file, (whole) => badText(whole, 'žluťoučký', '{"key":"A www30')),
      'damaged',
      'kept',
    ],
    [
      'with a suspension that is not UTF-8',
      (file) => setBytes(file, (whole) => badText(whole, 'moving')),
      'damaged',
      'gone',
    ],
    ['of version 0.1', (file) => meddle(file, ofFirstEdition), 'of version 0.1', 'gone'],
    ['of a preview', (file) => meddle(file, 'PRAGMA user_version = 7'), 'of version 0.1', 'kept'],
    ['that is empty', (file) => truncateSync(file, 0), 'was removed, emptied or replaced', 'gone'],
  ])('%s makes way for a new one', async (name, damage, what, suspended) => {
    const file = await filled();
    damage(file);
    const broken = readFileSync(file);
    const { said, holdsAdds, entries, suspensions } = await passOver(file);
    const text = said.map(([message]) => message).join('\n');
    expect(text).toContain(what);
    expect(text).toContain(file);
    expect(holdsAdds).toMatch(
      new RegExp(`${broken.length > 0 ? 'it was moved to' : 'emptied'}.* no adds before `),
    );
    expect({ entries, suspensions }).toEqual({ entries: 0, suspensions: suspended === 'kept' ? 1 : 0 });
    const aside = readdirSync(path.dirname(file)).find((one) => /\.db\.damaged-\d+$/.test(one));
    if (broken.length > 0) {
      expect(text).toContain(`it was moved to ${path.join(path.dirname(file), aside!)}`);
      if (!/UTF-8|row/.test(name))
        expect(readFileSync(path.join(path.dirname(file), aside!))).toEqual(broken);
      const gone = said.filter(
        ([message, level]) => level === 'error' && message.includes('suspended no more'),
      );
      expect(gone).toHaveLength(suspended === 'kept' ? 0 : 1);
    }
    // The next process finds a state like any other, and goes on with the pause.
    const next = await passOver(file);
    expect(next).toMatchObject({ holdsAdds, suspensions });
    expect(next.said).toEqual([[holdsAdds, undefined]]);
  });

  const setOther = (file: string, sql: string): void => {
    meddle(`${file}.other`, sql);
    renameSync(`${file}.other`, file);
  };

  it('is as good as new wherever it is damaged, or can be used', async () => {
    const file = await filled();
    const whole = readFileSync(file);
    const spot = fc.record({
      at: fc.nat(whole.length - 1),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 200 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(spot, { minLength: 1, maxLength: 3 }), fc.nat(3), async (spots, cut) => {
        const broken = Buffer.from(whole);
        for (const { at, bytes } of spots) broken.set(bytes.subarray(0, broken.length - at), at);
        alone(file, broken);
        if (cut === 0) truncateSync(file, spots[0]!.at);
        const first = await passOver(file).catch(whyUnusable);
        // Nothing is written without it.
        if (typeof first === 'string') {
          expect(first).toContain('cannot be used');
          return;
        }
        // What is open is known, or nothing is added for a while.
        if (first.entries < 5) expect(first.holdsAdds).not.toBeNull();
        expect((await passOver(file)).holdsAdds).toBe(first.holdsAdds);
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  it('is as good as new where an index no longer finds what is open, or can be used', async () => {
    const file = await filled();
    const whole = readFileSync(file);
    const scope = Buffer.from(storeLocation({ stateDir: '', baseUrl, name: 'client' }, '', false).scope);
    const places = [];
    for (let at = whole.indexOf(scope); at >= 0; at = whole.indexOf(scope, at + 1)) places.push(at);
    expect(places.length).toBeGreaterThan(10);
    for (const at of places) {
      const broken = Buffer.from(whole);
      broken[at] = 0x7a;
      alone(file, broken);
      const { entries, holdsAdds } = await passOver(file);
      if (entries < 5) expect(holdsAdds).not.toBeNull();
    }
  });

  it('is moved aside by one of two processes', async () => {
    const file = await filled();
    writeFileSync(file, 'no database '.repeat(500));
    const script = `const { fileStore } = await load('state/store.mjs');
      const { systemClock } = await load('lib/clock.mjs');
      const { storeLocation } = await load('state/store-location.mjs');
      const { storeHandle } = await load('state/store-handle.mjs');
      const store = fileStore(systemClock);
      const owner = { stateDir: process.argv[1], baseUrl: 'https://panel.example.net', name: process.argv[2] };
      const use = { timeout: 0, signal: new AbortController().signal, onWait: () => undefined, lostPause: 1 };
      await storeHandle(store, () => undefined).write(storeLocation(owner, owner.name, false), use, () => Promise.resolve());
      await store.close();
      console.log('done');`;
    const children = ['one', 'two', 'three'].map((name) => startChild(script, path.dirname(file), name));
    expect(await Promise.all(children.map((child) => child.line()))).toEqual(['done', 'done', 'done']);
    const aside = readdirSync(path.dirname(file)).filter((name) => name.includes('.damaged-'));
    expect(aside.map((name) => readFileSync(path.join(path.dirname(file), name), 'utf8'))).toEqual([
      'no database '.repeat(500),
    ]);
  });

  it('of a newer version of the program is left alone', async () => {
    const file = await filled();
    meddle(file, 'PRAGMA user_version = 99');
    const before = readFileSync(file);
    await expect(passOver(file)).rejects.toThrow(
      /memory\.db was written by a newer version .*schema 99.*--state-dir/,
    );
    await expect(opened(file)).rejects.not.toThrow(DamagedMemoryError);
    expect(readFileSync(file)).toEqual(before);
  });
});

it('says so where the file is a folder, or its folder cannot be made', async () => {
  const file = newFile();
  mkdirSync(file, { recursive: true });
  await expect(opened(file)).rejects.toThrow(`${file} is a directory: remove it`);
  const below = path.join(newFolder(), 'taken', 'memory.db');
  writeFileSync(path.dirname(below), '');
  await expect(opened(below)).rejects.toThrow(below);
});
