import { lstatSync } from 'node:fs';
import { hostname } from 'node:os';
import { LockedError, UserError } from '../errors.ts';
import { sleep } from '../lib/sleep.ts';
import { connect, type SqliteConnection } from './connection.ts';
import { identityOf, makePrivateFile, readNote, writeNote } from './private-file.ts';
import { MemoryError } from './memory.ts';

export interface LockOptions {
  readonly file: string;
  /** Milliseconds to wait for another holder. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Called once if another process holds the lock. */
  readonly onWait: (holder: string) => void;
}

export interface Lock {
  /** Throws a `MemoryError` if its file was removed or replaced: then others can take the lock too. */
  readonly check: () => void;
  release(): Promise<void>;
}

/**
 * An exclusive lock on a file, held by the operating system through SQLite: it is released when its holder
 * dies, however it dies. Throws `LockedError` after `timeout`.
 */
export const acquireLock = async ({ file, timeout, signal, onWait }: LockOptions): Promise<Lock> => {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw new UserError(`the lock ${file} is a link, which may lead anywhere: remove it`);
  makePrivateFile(file);
  const connection = connect(file, { timeout: 0 });
  const end = performance.now() + timeout;
  let isTold = false;
  while (!(await takes(connection))) {
    const holder = readNote(`${file}.holder`) || 'holder unknown';
    if (!isTold) onWait(holder);
    isTold = true;
    if (signal.aborted || performance.now() >= end) {
      await connection.close();
      throw new LockedError(`another pass for this client is running: ${holder}`);
    }
    await sleep(interval, signal);
  }
  const sayWho = (text: string): void => writeNote(`${file}.holder`, text);
  sayWho(`process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}`);
  const identity = identityOf([file]);
  return {
    check: () => {
      if (identityOf([file]) !== identity) throw removed(file);
    },
    release: async () => {
      sayWho('');
      await connection.close();
    },
  };
};

const interval = 50;

const removed = (file: string): MemoryError =>
  new MemoryError(
    `the lock ${file} was removed or replaced while it was held, so another process may be writing: nothing more is sent`,
  );

const takes = async (connection: SqliteConnection): Promise<boolean> => {
  try {
    // Nothing is ever saved, so no journal file is needed. A file that is read-only lets everybody begin, but not write.
    connection.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE; PRAGMA user_version = 1');
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return false;
    // It would keep out whoever comes when the disk is mended, this process too.
    await connection.close('now');
    throw error;
  }
};
