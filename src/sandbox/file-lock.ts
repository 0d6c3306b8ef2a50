import { randomUUID } from 'node:crypto';
import { open, readFile, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { UserError } from '../errors.ts';

/** Work under the lock never takes that long: an older lock was left behind. */
const leftBehindAfter = 15_000;
const maxWait = 30_000;

/** Locks that this process holds. The process id is not enough: in a container it is 1 after each restart. */
const held = new Set<string>();

/** Runs `work` with the lock file held, exclusively among processes and within this one. */
export const withFileLock = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  const mark = `${hostname()} ${process.pid} ${randomUUID()}`;
  await take(file, mark);
  try {
    return await work();
  } finally {
    await release(file, mark);
  }
};

const take = async (file: string, mark: string): Promise<void> => {
  const deadline = Date.now() + maxWait;
  held.add(mark);
  try {
    while (!(await create(file, mark))) {
      await removeIfLeftBehind(file);
      if (Date.now() > deadline) {
        throw new UserError(`${file} has been locked for too long. Remove it if no other process uses it.`);
      }
      await wait(2 + Math.random() * 8);
    }
  } catch (thrown) {
    held.delete(mark);
    throw thrown;
  }
};

const release = async (file: string, mark: string): Promise<void> => {
  if ((await content(file)) === mark) {
    await rm(file, { force: true });
  }
  held.delete(mark);
};

const create = async (file: string, mark: string): Promise<boolean> => {
  let handle;
  try {
    handle = await open(file, 'wx', 0o600);
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) {
      return false;
    }
    throw thrown;
  }
  try {
    await handle.writeFile(mark);
    return true;
  } catch (thrown) {
    await rm(file, { force: true });
    throw thrown;
  } finally {
    await handle.close();
  }
};

const removeIfLeftBehind = async (file: string): Promise<void> => {
  const mark = await content(file);
  if (mark !== null && !held.has(mark) && ((await isOld(file)) || isDead(mark))) {
    // Checked again: another process may have removed it and taken the lock meanwhile.
    if ((await content(file)) === mark) {
      await rm(file, { force: true });
    }
  }
};

const isOld = async (file: string): Promise<boolean> => {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
  return Date.now() - mtimeMs > leftBehindAfter;
};

/** Only a process of this host can be checked. A lock with our own id that we do not hold is of a dead process. */
const isDead = (mark: string): boolean => {
  const [host, pid] = mark.split(' ');
  if (host !== hostname() || pid === undefined) {
    return false;
  }
  return Number(pid) === process.pid || !isAlive(Number(pid));
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return hasCode(thrown, 'EPERM');
  }
};

const content = async (file: string): Promise<string | null> => readFile(file, 'utf8').catch(() => null);

/** Whether a system call failed for this reason, e.g. `ENOENT`. */
export const hasCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code;
