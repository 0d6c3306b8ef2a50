import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'libsql';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closeAtOnce } from '../../src/state/connection.ts';
import { UserError } from '../../src/errors.ts';
import { DamagedMemoryError, quarantine } from '../../src/state/database.ts';
import { borrowOrSalvage } from '../../src/state/salvage.ts';
import { openMemory, type FileMemory } from '../../src/state/sqlite.ts';
import { changesOf, intentOf, newFile, newFolder, opened, rememberedRecord } from './samples.ts';

// As in a process of its own.
closeAtOnce();

/** A memory of some size, whole and closed. */
const filled = async (): Promise<string> => {
  const file = newFile();
  const memory = await opened(file);
  const records = Array.from({ length: 60 }, (_, index) => rememberedRecord(`A www${index}  1`));
  await memory.save(changesOf({ records }));
  for (let at = 0; at < 10; at += 1) {
    const intent = await memory.begin(intentOf({ at }));
    if (at % 2 === 0)
      await memory.finish(intent, { outcome: 'applied', recordId: 1, error: null }, changesOf());
  }
  await memory.close();
  // All of it in the one file, nothing in the journal.
  const database = new Database(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return file;
};

const openOrSalvage = (
  file: string,
  say: (message: string) => unknown = () => undefined,
): Promise<FileMemory> => openMemory(file, 'client', () => borrowOrSalvage(file, say));

/** All that a pass does with a memory. */
const use = async (file: string): Promise<void> => {
  const memory = await openMemory(file, 'client');
  try {
    for (const { templateId } of await memory.templates()) await memory.template(templateId);
    await memory.history();
    const [open] = await memory.openIntents();
    const intent = open ?? (await memory.begin(intentOf()));
    await memory.finish(intent, { outcome: 'failed', recordId: null, error: null }, changesOf());
  } finally {
    await memory.close();
  }
};

const errorOf = (task: Promise<void>): Promise<unknown> =>
  task.then(
    () => null,
    (error: unknown) => error,
  );

/** What somebody else may have done to the file by SQLite. */
const meddled = async (sql: string): Promise<string> => {
  const file = await filled();
  const database = new Database(file);
  database.exec(sql);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return file;
};

describe('a database that somebody changed', () => {
  it.each([
    ['a row that is null', "UPDATE templates SET body = 'null'"],
    ['a list in place of a record', "UPDATE records SET body = '[]' WHERE key LIKE 'A www30%'"],
    ['a trigger', 'CREATE TRIGGER t AFTER INSERT ON intents BEGIN DELETE FROM intents; END'],
    ['a view', 'CREATE VIEW more AS SELECT * FROM intents'],
    [
      'our view, with another meaning',
      'DROP VIEW known_templates; CREATE VIEW known_templates AS SELECT 1 AS scope, 2 AS template_id',
    ],
  ])('is damaged, and what can be read goes into a new one: %s', async (_, sql) => {
    const file = await meddled(sql);
    await expect(openMemory(file, 'client')).rejects.toThrow(DamagedMemoryError);
    const memory = await openOrSalvage(file);
    expect(await memory.openIntents()).toHaveLength(5);
    await memory.close();
    await use(file);
  });
});

describe('a damaged database', () => {
  it.each([
    ['text', () => Buffer.from('this is no database '.repeat(500))],
    ['another beginning', (whole: Buffer) => Buffer.concat([Buffer.from('x'), whole.subarray(1)])],
    ['half of it', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    ['a page of zeros', (whole: Buffer) => Buffer.from(whole).fill(0, 8_192, 12_288)],
    [
      'a row that is no JSON',
      (whole: Buffer) => {
        const at = whole.indexOf('{"key":"A www30');
        return Buffer.concat([whole.subarray(0, at), Buffer.from('!'), whole.subarray(at + 1)]);
      },
    ],
    [
      'a row that is no text',
      (whole: Buffer) => {
        const at = whole.indexOf('203.0.113.10', whole.indexOf('{"key":"A www30'));
        return Buffer.concat([whole.subarray(0, at), Buffer.from([0xff]), whole.subarray(at + 1)]);
      },
    ],
  ])('is reported as such: %s', async (_, damage) => {
    const file = await filled();
    writeFileSync(file, damage(readFileSync(file)));
    await expect(openMemory(file, 'client')).rejects.toThrow(DamagedMemoryError);
    await expect(openMemory(file, 'client')).rejects.toThrow(file);
  });

  it('is reported as such wherever it is damaged, or can be used', async () => {
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
        writeFileSync(file, broken);
        if (cut === 0) truncateSync(file, spots[0]!.at);
        const first = await errorOf(use(file));
        if (first !== null) quarantine(file, 'damaged');
        const second = first === null ? null : await errorOf(use(file));
        expect([first, second]).toEqual([first === null ? null : expect.any(UserError), null]);
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  it('is moved aside with its journals, and a new one takes its place', async () => {
    const file = await filled();
    const damaged = Buffer.from('no database '.repeat(500));
    writeFileSync(file, damaged);
    writeFileSync(`${file}-wal`, 'no journal');
    const aside = quarantine(file, 'damaged');
    expect(readFileSync(aside)).toEqual(damaged);
    expect(readFileSync(`${aside}-wal`, 'utf8')).toBe('no journal');
    expect(readdirSync(path.dirname(file)).filter((name) => !name.includes('.damaged-'))).toEqual([]);
    await use(file);
    expect(await (await opened(file)).templates()).toHaveLength(1);
  });

  it('is not the same as an empty file, which is a new one', async () => {
    const file = newFile();
    mkdirSync(path.dirname(file));
    writeFileSync(file, '');
    await use(file);
    expect(statSync(file).size).toBeGreaterThan(0);
  });
});

describe('the readable part of a damaged database', () => {
  /** With a history of several pages. */
  const longFilled = async (): Promise<string> => {
    const file = await filled();
    const memory = await openMemory(file, 'client');
    for (let at = 0; at < 60; at += 1)
      await memory.finish(await memory.begin(intentOf({ at, run: `long-${at}` })), ended, changesOf());
    await memory.close();
    return file;
  };
  const ended = { outcome: 'applied', recordId: 1, error: null } as const;

  /** Fills the page with zeros that holds this text. */
  const damagePageWith = (file: string, text: string): void => {
    const bytes = readFileSync(file);
    const at = bytes.lastIndexOf(text);
    expect(at).toBeGreaterThan(0);
    const page = Math.floor(at / 4_096) * 4_096;
    writeFileSync(file, bytes.fill(0, page, page + 4_096));
  };

  it('is kept if the history is damaged: all intents and bindings, and the rest of the history', async () => {
    const file = await longFilled();
    const before = await openMemory(file, 'client');
    const [intents, template] = [await before.openIntents(), await before.template(17)];
    const history = (await before.history()).length;
    await before.close();
    damagePageWith(file, 'long-30"');
    await expect(openMemory(file, 'client')).rejects.toThrow(DamagedMemoryError);

    const said: string[] = [];
    const memory = await openOrSalvage(file, (message) => said.push(message));
    onTestFinished(() => memory.close());
    expect(await memory.openIntents()).toEqual(intents);
    expect(await memory.template(17)).toEqual(template);
    const kept = (await memory.history()).length;
    expect(kept).toBeGreaterThan(40);
    expect(kept).toBeLessThan(history);
    expect(said).toEqual([
      expect.stringContaining(
        `(5 writes of unknown outcome, 1 templates, 60 records, ${kept} writes in the history, 0 suspensions)`,
      ),
    ]);
    // Ids of intents are never used twice.
    expect((await memory.begin(intentOf())).id).toBeGreaterThan(Math.max(...intents.map(({ id }) => id)));
  });

  it('is kept if a row is not text, except that row', async () => {
    const file = await filled();
    const bytes = readFileSync(file);
    bytes[bytes.indexOf('203.0.113.10', bytes.indexOf('{"key":"A www30'))] = 0xff;
    writeFileSync(file, bytes);
    const memory = await openOrSalvage(file);
    onTestFinished(() => memory.close());
    expect(await memory.openIntents()).toHaveLength(5);
    expect((await memory.template(17))?.records).toHaveLength(59);
  });

  it('is empty if the file is something else', async () => {
    const file = newFile();
    mkdirSync(path.dirname(file));
    writeFileSync(file, 'no database '.repeat(500));
    const memory = await openOrSalvage(file);
    onTestFinished(() => memory.close());
    expect(await memory.templates()).toEqual([]);
  });
});

describe('a disk that cannot be written', () => {
  it('says so if the folder cannot be made', async () => {
    const folder = newFolder();
    writeFileSync(path.join(folder, 'taken'), '');
    const file = path.join(folder, 'taken', 'memory.db');
    await expect(openMemory(file, 'client')).rejects.toThrow(UserError);
    await expect(openMemory(file, 'client')).rejects.toThrow(file);
  });

  it('says so if the file is a folder', async () => {
    const file = newFile();
    mkdirSync(file, { recursive: true });
    await expect(openMemory(file, 'client')).rejects.toThrow(UserError);
  });

  it.runIf(process.getuid?.() === 0 && process.platform === 'linux')(
    'has no intent begun when it is full, and goes on when it has room again',
    async () => {
      const folder = newFolder();
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]);
      onTestFinished(() => void execFileSync('umount', ['-l', folder]));
      const file = path.join(folder, 'memory.db');
      const memory = await openMemory(file, 'client');
      const begun: number[] = [];
      const error = await (async () => {
        for (;;) begun.push((await memory.begin(intentOf())).id);
      })().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UserError);
      expect(String(error)).toContain(file);
      expect((await memory.openIntents()).map(({ id }) => id)).toEqual(begun);
      await memory.close();

      execFileSync('mount', ['-o', 'remount,size=4m', folder]);
      const again = await openMemory(file, 'client');
      expect((await again.openIntents()).map(({ id }) => id)).toEqual(begun);
      await again.begin(intentOf());
      await again.close();
    },
  );
});

it('refuses a file of a newer version of the program, and leaves it alone', async () => {
  const file = await filled();
  const database = new Database(file);
  database.exec('PRAGMA user_version = 99');
  database.close();
  const before = readFileSync(file);
  await expect(openMemory(file, 'client')).rejects.toThrow(UserError);
  await expect(openMemory(file, 'client')).rejects.not.toThrow(DamagedMemoryError);
  await expect(openMemory(file, 'client')).rejects.toThrow(
    /memory\.db was written by a newer version .*schema 99.*--state-dir/,
  );
  expect(readFileSync(file)).toEqual(before);
});
