import {
  copyFileSync,
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
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { sleep } from '../../src/lib/sleep.ts';
import { closeAtOnce } from '../../src/state/connection.ts';
import { DamagedMemoryError } from '../../src/state/database.ts';
import { acquireLock } from '../../src/state/lock.ts';
import { MemoryError, type Memory } from '../../src/state/memory.ts';
import { StateFile } from '../../src/state/state-file.ts';
import { fileStore } from '../../src/state/store.ts';
import { storeHandle } from '../../src/state/store-handle.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import { testClock } from '../clock.ts';
import { startChild } from './child.ts';
import { changesOf, finish, newEntry, newFolder, rememberedRecord } from './samples.ts';

// As in a process of its own.
afterAll(closeAtOnce());

const baseUrl = 'https://panel.example.net/api/v1';
const lostPause = 3_600_000;

/** A process that goes on from pass to pass, and makes another one where a row is found that cannot be read. */
const newProcess = (stateDir = newFolder()) => {
  const clock = testClock();
  const said: [message: string, level: string | undefined][] = [];
  const store = fileStore(clock);
  onTestFinished(() => store.close());
  const handle = storeHandle(store, (message, level) => said.push([message, level]));
  const location = storeLocation({ stateDir, baseUrl, name: 'client' }, 'token', false);
  const { signal } = new AbortController();
  const use = { timeout: 0, signal, onWait: () => undefined, lostPause };
  const pass = async (task: (memory: Memory) => Promise<unknown> = () => Promise.resolve()) => {
    let isFoundLate = false;
    const once = () =>
      handle.write(location, use, async ({ memory, holdsAdds }) => {
        const suspensions = (await memory.suspensions()).length;
        const entries = (await memory.journal()).length;
        await task(memory);
        return { holdsAdds, entries, suspensions, isFoundLate };
      });
    return once().catch((error: unknown) => {
      if (!(error instanceof DamagedMemoryError)) throw error;
      expect(error.message).toContain('it was moved to');
      isFoundLate = true;
      return once();
    });
  };
  const suspend = async (): Promise<void> => {
    const memory = await store.suspending(location, () => undefined);
    await memory.suspend({ by: 'ann', reason: 'moving', duration: null, templates: null });
  };
  return { clock, said, pass, suspend, file: location.file, close: () => store.close() };
};

const write = async (memory: Memory): Promise<void> => {
  await memory.save(changesOf());
  await memory.begin(newEntry());
};

/** All that a pass does with a memory. */
const use = async (memory: Memory): Promise<void> => {
  for (const { templateId } of await memory.templates()) await memory.template(templateId);
  const [open] = await memory.journal();
  await finish(memory, open ?? (await memory.begin(newEntry())), failed);
};

const failed = { outcome: 'failed', recordId: null, error: null } as const;

/** A process with a state of some size: five open entries, and a suspension. */
const filled = async () => {
  const process = newProcess();
  const records = Array.from({ length: 32 }, (_, index) => rememberedRecord(`A www${index}  1`));
  await process.pass(async (memory) => {
    await memory.save(changesOf({ records }));
    for (let at = 0; at < 10; at += 1) {
      const intent = await memory.begin(newEntry({ at }));
      if (at % 2 === 0) await finish(memory, intent, failed);
    }
  });
  await process.suspend();
  process.said.length = 0;
  return process;
};

/** The same, whole and closed, in one file. */
const filledFile = async () => {
  const { file, close } = await filled();
  await close();
  return { file, whole: readFileSync(file) };
};

const meddle = (file: string, sql: string): void => {
  const database = new Database(file);
  database.exec(`${sql}; PRAGMA wal_checkpoint(TRUNCATE)`);
  database.close();
};

/** What was not yet in the file goes too. */
const alone = (file: string, content: Buffer): void => {
  for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  writeFileSync(file, content);
};

/** Puts a byte in place of the first one of a text. `after`: a text before it, where the same may be left over elsewhere. */
const setByte =
  (byte: number, text: string, after = '') =>
  (file: string): void => {
    const whole = readFileSync(file);
    const at = whole.indexOf(text, whole.indexOf(after));
    expect(at).toBeGreaterThan(0);
    writeFileSync(file, whole.fill(byte, at, at + 1));
  };

const noDatabase = 'no database '.repeat(500);

/** As version 0.1 made it, as far as anything is read of it. */
const ofFirstEdition = `DROP TABLE clients; CREATE TABLE clients (scope TEXT PRIMARY KEY, body TEXT NOT NULL);
  PRAGMA user_version = 3`;

const trigger = 'CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM journal; END';

const replaceByForeign = (file: string): void => {
  meddle(`${file}.other`, 'CREATE TABLE notes (text); PRAGMA user_version = 8');
  renameSync(`${file}.other`, file);
};

const replaceByOther = async (file: string): Promise<void> => {
  const other = newProcess();
  await other.pass((memory) => memory.save(changesOf()));
  for (const end of ['', '-wal']) copyFileSync(other.file + end, file + end);
};

const replaceByCopy = (file: string): void => {
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
};

const saveElsewhere = async (file: string): Promise<void> => {
  const child = startChild(
    `const memory = await opened(process.argv[1], 'other');
     for (let templateId = 1; templateId < 200; templateId += 1)
       await memory.save({ ...${JSON.stringify(changesOf())}, row: { templateId } });
     await memory.close();
     console.log('saved');`,
    file,
  );
  expect(await child.line()).toBe('saved');
};

const changed = (sql: string) => (file: string) => meddle(file, sql);

type Happening = (file: string) => unknown;

/** The state is kept; or it was removed, is damaged or old, and what was suspended is kept (+) or gone (-). Null: it cannot happen. */
type Outcome = 'kept' | `${'removed' | 'damaged' | 'of version 0.1'}${'+' | '-'}` | null;

/** What becomes of it between two passes of a process; and after a process has ended, before the next one begins. */
const happenings: readonly (readonly [string, Happening, passes: Outcome, processes: Outcome])[] = [
  ['it is removed', (file) => rmSync(file), 'removed-', 'removed-'],
  ['its directory is', (file) => rmSync(path.dirname(file), { recursive: true }), 'removed-', null],
  ['it is emptied', (file) => truncateSync(file), 'damaged+', 'removed-'],
  ['that of another installation replaces it', replaceByOther, 'removed-', null],
  ['its own copy replaces it', replaceByCopy, 'kept', 'kept'],
  ['another process saves in it', saveElsewhere, 'kept', 'kept'],
  ['its journal is removed', (file) => rmSync(`${file}-wal`, { force: true }), 'kept', 'kept'],
  ['it becomes a text', (file) => writeFileSync(file, noDatabase), 'damaged+', 'damaged-'],
  [
    'a page of it is zeros',
    (file) => alone(file, readFileSync(file).fill(0, 8_192, 12_288)),
    null,
    'damaged+',
  ],
  ['that of another program replaces it', replaceByForeign, null, 'damaged-'],
  ['it gets a trigger', changed(trigger), null, 'damaged+'],
  ['it loses a table', changed('DROP TABLE journal'), null, 'damaged+'],
  ['a row becomes null', changed("UPDATE templates SET body = 'null'"), null, 'damaged+'],
  ['a row becomes no JSON', setByte(0x21, '{"key":"A www30'), null, 'damaged+'],
  ['a text becomes no UTF-8', setByte(0xff, 'žluťoučký', '{"key":"A www30'), null, 'damaged+'],
  ['a suspension becomes no UTF-8', setByte(0xff, 'moving'), null, 'damaged-'],
  ['it becomes that of version 0.1', changed(ofFirstEdition), null, 'of version 0.1-'],
  ['it becomes that of a preview', changed('PRAGMA user_version = 7'), null, 'of version 0.1+'],
];

const cases = happenings.flatMap(([what, happen, passes, processes]) => [
  ...(passes === null ? [] : [{ what, happen, outcome: passes, between: 'passes' }]),
  ...(processes === null ? [] : [{ what, happen, outcome: processes, between: 'processes' }]),
]);

describe('a state file', () => {
  it.each(cases)('between $between: $what', async ({ happen, outcome, between }) => {
    const before = await filled();
    const { file } = before;
    const stateDir = path.dirname(file);
    if (between === 'processes') await before.close();
    await happen(file);
    const broken = /^(kept|removed)/.test(outcome) ? null : readFileSync(file);
    const process = between === 'processes' ? newProcess(stateDir) : before;
    const { clock, said, pass } = process;
    const { isFoundLate, ...found } = await pass(use);
    if (outcome === 'kept') {
      expect(found).toEqual({ holdsAdds: null, entries: 5, suspensions: 1 });
      expect(said).toEqual([]);
      return;
    }
    const suspensions = outcome.endsWith('+') ? 1 : 0;
    const { holdsAdds } = found;
    expect(found).toEqual({ holdsAdds, entries: 0, suspensions });
    const until = new Date(clock.now() + lostPause).toISOString();
    expect(holdsAdds).toContain(`: no adds before ${until}`);
    const text = said.map(([message]) => message).join('\n');
    for (const part of [holdsAdds, outcome.slice(0, -1), file]) expect(text).toContain(part);
    const [moved, ...others] = readdirSync(stateDir).filter((one) => /\.db\.damaged-\d+$/.test(one));
    expect(others).toEqual([]);
    if (broken === null) expect(moved).toBeUndefined();
    else {
      expect(holdsAdds).toContain(`it was moved to ${path.join(stateDir, moved!)}`);
      // Of what a pass finds late it has written some before; and a process merges its journal.
      if (!isFoundLate && between === 'processes')
        expect(readFileSync(path.join(stateDir, moved!)).equals(broken)).toBe(true);
      const errors = said.filter(([one, level]) => level === 'error' && one.includes('suspended no more'));
      expect(errors).toHaveLength(1 - suspensions);
    }
    // The next process finds a state like any other, and goes on with the pause.
    await process.close();
    const next = newProcess(stateDir);
    expect(await next.pass(use)).toMatchObject({ holdsAdds, suspensions });
    expect(next.said).toEqual([[holdsAdds, undefined]]);
    next.clock.forward(lostPause - 1);
    expect((await next.pass()).holdsAdds).toBe(holdsAdds);
    next.clock.forward(1);
    expect((await next.pass()).holdsAdds).toBeNull();
  });

  const lost = /^.*memory\.db was removed, emptied or replaced since this program used it last/;

  it.each<[string, (file: string) => void]>([
    ['takes its place', (file) => (rmSync(`${file}-wal`), renameSync(`${file}.old`, file))],
    ['overwrites it', (file) => copyFileSync(`${file}.old`, file)],
  ])('lacks nothing in silence where an older copy %s', async (_, happen) => {
    const { pass, file } = newProcess();
    await pass(write);
    meddle(file, `VACUUM INTO '${file}.old'`);
    await pass(write);
    happen(file);
    const { holdsAdds, entries } = await pass();
    if (entries < 2) expect(holdsAdds).toContain('no adds before');
    else expect(entries).toBe(2);
  });

  it('lacks what was sent where its journal is lost with the process, and says so', async () => {
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
    expect((await newProcess(path.dirname(file)).pass()).holdsAdds).toMatch(lost);
  });

  it('takes nothing more of a pass during which it is lost', async () => {
    const { pass, file } = newProcess();
    await pass(async (memory) => {
      await write(memory);
      rmSync(file);
      await expectRefused(memory, lost);
    }).catch(() => undefined);
    expect(await pass()).toMatchObject({ holdsAdds: expect.stringMatching(lost), entries: 0 });
  });

  it.each(['name-', 'lock-'])('takes nothing more of a pass whose lock %s is gone', async (lock) => {
    const { pass, file } = newProcess();
    await pass(async (memory) => {
      const held = readdirSync(path.dirname(file)).filter((name) => name.startsWith(lock));
      for (const one of held) rmSync(path.join(path.dirname(file), one));
      await expectRefused(memory, /^the lock .* was removed or replaced/);
    });
    expect(await pass()).toMatchObject({ holdsAdds: null, entries: 0 });
  });

  it('is waited for while another process makes it', async () => {
    const { pass, file } = newProcess();
    await saveElsewhere(file);
    const another = new Database(file);
    another.exec('PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE');
    setTimeout(() => another.exec('COMMIT'), 1);
    expect((await pass()).entries).toBe(0);
    another.close();
  });

  it('is as good as new wherever it is damaged, or can be used', async () => {
    const { file, whole } = await filledFile();
    const spot = fc.record({
      at: fc.nat(whole.length - 1),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 200 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(spot, { minLength: 1, maxLength: 3 }), fc.nat(3), async (spots, cut) => {
        const broken = Buffer.from(whole);
        for (const { at, bytes } of spots) broken.set(bytes.subarray(0, broken.length - at), at);
        await expectNoSilence(file, cut === 0 ? broken.subarray(0, spots[0]!.at) : broken);
      }),
      { numRuns: 40 },
    );
  });

  it('is as good as new where an index no longer finds what is open, or can be used', async () => {
    const { file, whole } = await filledFile();
    const scope = Buffer.from(storeLocation({ stateDir: '', baseUrl, name: 'client' }, '', false).scope);
    const places = [];
    for (let at = whole.indexOf(scope); at >= 0; at = whole.indexOf(scope, at + 1)) places.push(at);
    expect(places.length).toBeGreaterThan(10);
    for (const at of places) {
      alone(file, Buffer.from(whole).fill(0x7a, at, at + 1));
      const { entries, holdsAdds } = await passOver(file);
      if (entries < 5) expect(holdsAdds).not.toBeNull();
    }
  });

  it('is moved aside by one of several processes', async () => {
    const { file } = await filledFile();
    writeFileSync(file, noDatabase);
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
    for (const child of children) expect(await child.line()).toBe('done');
    const aside = readdirSync(path.dirname(file)).filter((name) => name.includes('.damaged-'));
    expect(aside.map((name) => readFileSync(path.join(path.dirname(file), name), 'utf8'))).toEqual([
      noDatabase,
    ]);
  });

  it('has not saved what another one lacks that took its place meanwhile', async () => {
    const { file } = await filledFile();
    const copy = `${file}.copy`;
    copyFileSync(file, copy);
    const state = new StateFile(file, testClock());
    onTestFinished(() => state.close());
    const tables = await state.begin();
    const saved = tables.transaction(async (query) => {
      await query(tables.sql.begin, ['scope', '{}']);
      for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
      renameSync(copy, file);
    });
    await expect(saved).rejects.toThrow('nothing more is sent in this pass');
    const id = await tables.begin('scope', '{}');
    await state.close();
    expect(new Database(file).prepare('SELECT max(id) AS id FROM journal').get()).toMatchObject({ id });
  });

  it('is moved aside once where two have found it damaged', async () => {
    const { file } = await filledFile();
    writeFileSync(file, noDatabase);
    const folder = path.dirname(file);
    const { signal } = new AbortController();
    const lock = path.join(folder, 'replacing.db');
    const held = await acquireLock({ file: lock, timeout: 0, signal, onWait: () => undefined });
    const states = [1, 2].map(() => new StateFile(file, testClock()));
    for (const state of states) onTestFinished(() => state.close());
    const begun = states.map((state) => state.begin(() => undefined));
    // Both wait for the lock.
    await sleep(300);
    await held.release();
    await Promise.all(begun);
    expect(readdirSync(folder).filter((name) => /\.damaged-\d+$/.test(name))).toHaveLength(1);
  });

  it('of a newer version of the program is left alone', async () => {
    const { file } = await filledFile();
    meddle(file, 'PRAGMA user_version = 99');
    const before = readFileSync(file);
    await expect(passOver(file)).rejects.toThrow(
      /memory\.db was written by a newer version .*schema 99.*: use that version; another --state-dir knows nothing/,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

const expectRefused = async (memory: Memory, why: RegExp): Promise<void> => {
  await expect(memory.begin(newEntry())).rejects.toThrow(why);
  await expect(memory.save(changesOf())).rejects.toThrow(why);
  await expect(memory.compare([17])).rejects.toThrow(why);
};

/** Two passes at most of a process of its own. */
const passOver = async (file: string) => {
  const process = newProcess(path.dirname(file));
  try {
    return await process.pass(use);
  } finally {
    await process.close();
  }
};

/** With this content it cannot be used; or what is open is known, or nothing is added for a while. */
const expectNoSilence = async (file: string, content: Buffer): Promise<void> => {
  alone(file, content);
  try {
    const { entries, holdsAdds } = await passOver(file);
    if (entries < 5) expect(holdsAdds).not.toBeNull();
    expect((await passOver(file)).holdsAdds).toBe(holdsAdds);
  } catch (error) {
    // A format that SQLite knows of, and does not write. Nothing is written to the service without it.
    if (!(error instanceof MemoryError) || error instanceof DamagedMemoryError) throw error;
    expect(error.message).toContain('cannot be used');
  }
};
