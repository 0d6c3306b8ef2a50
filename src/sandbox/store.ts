import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { makeDirectory } from '../directory.ts';
import { codeOf, UserError } from '../errors.ts';
import { writeAtomically } from '../lib/write-atomically.ts';
import { SandboxData } from './data.ts';
import { exampleData } from './example-data.ts';

export interface SandboxStore {
  read(): SandboxData;
  /** Changes are made one after the other. If `edit` throws, nothing changes. */
  change<T>(edit: (data: SandboxData) => { readonly data: SandboxData; readonly answer: T }): Promise<T>;
}

export const memoryStore = (): SandboxStore => {
  let known = exampleData();
  return {
    read: () => known,
    change: (edit) => {
      const { data, answer } = edit(known);
      known = data;
      return Promise.resolve(answer);
    },
  };
};

/**
 * Data in one JSON file, replaced as a whole with each change. Several processes may use it at once: each request looks
 * whether the file has changed, and a lock file beside it keeps changes apart. A missing file means the example data,
 * which `reset` restores. Throws a `UserError` for a file that cannot be used.
 */
export const fileStore = async (file: string, reset: boolean): Promise<SandboxStore> => {
  let known: { readonly data: SandboxData; readonly stamp: string } | null = null;
  const read = (): SandboxData => {
    const stamp = stampOf(file);
    if (stamp === null) return exampleData();
    if (known?.stamp !== stamp) known = { data: parse(file), stamp };
    return known.data;
  };
  const change: SandboxStore['change'] = (edit) =>
    locked(`${file}.lock`, () => {
      const { data, answer } = edit(read());
      writeAtomically(file, JSON.stringify(data), { mode: 0o600, isDurable: true });
      return answer;
    });
  try {
    makeDirectory(path.dirname(file), 0o700);
    if (reset) rmSync(file, { force: true });
    if (stampOf(file) === null) await change((data) => ({ data, answer: null }));
    read();
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`The sandbox cannot use its data file ${file}: ${codeOf(error)}`, { cause: error });
  }
  return { read, change };
};

const stampOf = (file: string): string | null => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
};

const parse = (file: string): SandboxData => {
  const text = readFileSync(file, 'utf8');
  try {
    // Jitless: compiling the schema takes longer than reading a file with it.
    return SandboxData.parse(JSON.parse(text), { jitless: true });
  } catch (error) {
    const advice = 'Use --reset to start again with the example data, or repair the file.';
    throw new UserError(`The sandbox's data file ${file} is damaged. ${advice}`, { cause: error });
  }
};

/** A task takes milliseconds, so whoever has held the lock for seconds has left it behind. */
const locked = async <T>(lock: string, task: () => T): Promise<T> => {
  while (!take(lock)) {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (Math.abs(age) > 5_000) rmSync(lock, { force: true });
    else await wait(2 + Math.random() * 8);
  }
  try {
    return task();
  } finally {
    rmSync(lock, { force: true });
  }
};

const take = (lock: string): boolean => {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
};
