import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { LockedError } from '../../src/errors.ts';
import { acquireLock, type LockOptions } from '../../src/state/lock.ts';
import { startChild } from './child.ts';
import { newFolder } from './samples.ts';

const newLock = (): string => path.join(newFolder(), 'state', 'lock-1.db');

const acquire = (file: string, options: Partial<LockOptions> = {}) =>
  acquireLock({
    file,
    timeout: 0,
    signal: new AbortController().signal,
    onWait: () => undefined,
    ...options,
  });

/** Another process that takes the lock, says so, and keeps it. */
const startHolder = (file: string) =>
  startChild(
    `const { acquireLock } = await load('state/lock.mjs');
     const signal = new AbortController().signal;
     const lock = await acquireLock({ file: process.argv[1], timeout: 60_000, signal, onWait: () => undefined });
     console.log('holds');
     process.on('SIGUSR2', () => lock.release());
     setInterval(() => undefined, 1_000);`,
    file,
  );

/** For another process. */
const isFree = async (file: string): Promise<boolean> => {
  const child = startChild(
    `const { acquireLock } = await load('state/lock.mjs');
     const signal = new AbortController().signal;
     const tried = acquireLock({ file: process.argv[1], timeout: 0, signal, onWait: () => undefined });
     console.log(await tried.then(() => 'free', ({ name }) => name));
     process.exit();`,
    file,
  );
  const said = await child.line();
  expect(said).toMatch(/^(free|LockedError)$/);
  return said === 'free';
};

it.each<[what: string, task: string]>([
  ['locks', "await (await (await load('state/lock.mjs')).lockClient(place, waiting)).release()"],
  [
    'state',
    "const memory = await opened(place.stateDir + '/memory.db'); await memory.templates(); await memory.close()",
  ],
])(
  'of %s that more open files would be needed for, it is said that these are what is lacking',
  async (_, task) => {
    const child = startChild(
      `const { closeSync, openSync } = await import('node:fs');
     const place = { stateDir: process.argv[1], scope: 'scope', token: 'token' };
     const waiting = { timeout: 0, signal: new AbortController().signal, onWait: () => undefined };
     const tried = () => (async () => { ${task} })().then(() => 'done', ({ message }) => message);
     console.log(await tried());
     const files = [];
     for (;;) try { files.push(openSync('/', 'r')); } catch { break; }
     // The files are there, so SQLite is the first to open one.
     console.log(await tried());
     place.stateDir += '2';
     console.log(await tried());
     closeSync(files.pop());
     console.log(await tried());
     process.exit();`,
      path.join(newFolder(), 'state'),
    );
    expect(await child.line()).toBe('done');
    for (let tries = 0; tries < 3; tries += 1) {
      const line = await child.line();
      expect(line).toContain('too many files are open: EMFILE; let this process open more');
      expect(line).not.toContain('--state-dir');
    }
  },
);

describe('a lock on a file', () => {
  it('has one holder at a time, and another try does not release it', async () => {
    const file = newLock();
    const lock = await acquire(file);
    await expect(acquire(file)).rejects.toThrow(LockedError);
    expect(await isFree(file)).toBe(false);
    writeFileSync(`${file}.holder`, '');
    await expect(acquire(file)).rejects.toThrow('holder unknown');
    await lock.release();
    expect(readFileSync(`${file}.holder`, 'utf8')).toMatch(/^\n/);
    expect(await isFree(file)).toBe(true);
  });

  it('is not waited for during a shutdown', async () => {
    const file = newLock();
    const lock = await acquire(file);
    const ending = new AbortController();
    const waiting = { timeout: 600_000, signal: ending.signal, onWait: () => ending.abort() };
    await expect(acquire(file, waiting)).rejects.toThrow(LockedError);
    await lock.release();
  });

  it('has one holder among all processes, and the error names it', async () => {
    const file = newLock();
    const holder = startHolder(file);
    expect(await holder.line()).toBe('holds');
    const told: string[] = [];
    const refused = acquire(file, { timeout: 120, onWait: (who) => told.push(who) });
    await expect(refused).rejects.toThrow(LockedError);
    await expect(refused).rejects.toThrow(`process ${holder.pid} on ${hostname()}, since 20`);
    expect(told).toEqual([expect.stringContaining(`process ${holder.pid} on ${hostname()}`)]);
  });

  it('is known to be lost once its file is removed, also where another one is in its place', async () => {
    const file = newLock();
    const lock = await acquire(file);
    lock.check();
    rmSync(file);
    expect(() => lock.check()).toThrow(/^the lock .* was removed or replaced/);
    writeFileSync(file, '');
    expect(() => lock.check()).toThrow(/^the lock .* was removed or replaced/);
    await lock.release();
  });

  it('is no link, and notes its holder through none', async () => {
    const [file, foreign] = [newLock(), path.join(newFolder(), 'foreign')];
    writeFileSync(foreign, 'not ours');
    mkdirSync(path.dirname(file));
    symlinkSync(foreign, `${file}.holder`);
    await (await acquire(file)).release();
    expect(readFileSync(foreign, 'utf8')).toBe('not ours');
    const link = path.join(path.dirname(file), 'lock-2.db');
    symlinkSync(foreign, link);
    await expect(acquire(link)).rejects.toThrow(`the lock ${link} is a link`);
  });

  it.each(['SIGUSR2', 'SIGKILL'] as const)(
    'goes to one who waits when its holder gets %s',
    async (signal) => {
      const file = newLock();
      const holder = startHolder(file);
      await holder.line();
      const lock = await acquire(file, { timeout: 60_000, onWait: () => process.kill(holder.pid, signal) });
      expect(await isFree(file)).toBe(false);
      await lock.release();
    },
  );
});
