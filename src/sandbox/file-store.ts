import { open, stat } from 'node:fs/promises';
import type { BigIntStats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeDirectory } from '../directory.ts';
import { codeOf, UserError } from '../errors.ts';
import { writeAtomically } from '../lib/write-atomically.ts';
import { SandboxData } from './data.ts';
import type { DataStore } from './data-store.ts';
import { hasCode, withFileLock } from './file-lock.ts';
import { exampleData } from './example-data.ts';

/** The data last read or written, and the identity of its file. */
interface StoreSnapshot {
  readonly data: SandboxData;
  readonly stamp: string;
}

/**
 * Data in one JSON file (mode 0600), replaced as a whole with each change. Several processes may use it at once:
 * each request checks whether the file has changed, and a lock file beside it serialises changes.
 * A missing file means the example data, which `reset` restores.
 *
 * Throws a `UserError` for a file that cannot be read, written or parsed.
 */
export const openFileStore = async (path: string, reset: boolean): Promise<DataStore> => {
  const file = resolve(path);
  const lock = `${file}.lock`;
  let known: StoreSnapshot | null = null;

  const current = async (): Promise<SandboxData> => {
    const stamp = await stampOf(file);
    if (stamp === null) {
      known = null;
      return exampleData();
    }
    if (known?.stamp !== stamp) {
      known = await load(file);
    }
    return known.data;
  };

  const oneByOne = serialize();
  const store: DataStore = {
    read: async () => oneByOne(current),
    change: async (edit) =>
      oneByOne(async () =>
        withFileLock(lock, async () => {
          const { data, answer } = edit(await current());
          known = await save(file, data);
          return answer;
        }),
      ),
  };

  try {
    makeDirectory(dirname(file), 0o700);
    if (reset) {
      await withFileLock(lock, async () => save(file, exampleData()));
    } else if ((await stampOf(file)) === null) {
      await store.change((data) => ({ data, answer: undefined }));
    } else {
      await store.read();
    }
  } catch (thrown) {
    throw thrown instanceof UserError
      ? thrown
      : new UserError(`The sandbox cannot use its data file ${file}: ${codeOf(thrown)}`, {
          cause: thrown,
        });
  }
  return store;
};

/** Runs tasks one after the other, in order. */
const serialize = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const task = last.then(work);
    last = task.catch(() => undefined);
    return task;
  };
};

const stampOf = async (file: string): Promise<string | null> => {
  try {
    return stamp(await stat(file, { bigint: true }));
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) {
      return null;
    }
    throw thrown;
  }
};

const stamp = ({ ino, mtimeNs, size }: BigIntStats): string => `${ino} ${mtimeNs} ${size}`;

const load = async (file: string): Promise<StoreSnapshot> => {
  const handle = await open(file, 'r');
  try {
    const stats = await handle.stat({ bigint: true });
    return { data: parse(file, await handle.readFile('utf8')), stamp: stamp(stats) };
  } finally {
    await handle.close();
  }
};

const parse = (file: string, text: string): SandboxData => {
  try {
    // Jitless: compiling the schema takes longer than reading a file with it.
    return SandboxData.parse(JSON.parse(text), { jitless: true });
  } catch (thrown) {
    throw new UserError(
      `The sandbox's data file ${file} is damaged. Use --reset to start again with the example data, or repair the file.`,
      { cause: thrown },
    );
  }
};

const save = async (file: string, data: SandboxData): Promise<StoreSnapshot> => {
  writeAtomically(file, JSON.stringify(data), { mode: 0o600, isDurable: true });
  return { data, stamp: stamp(await stat(file, { bigint: true })) };
};
