import { existsSync, lstatSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { codeOf, LockedError, messageOf, processUser, UserError } from '../errors.ts';
import { sleep } from '../lib/sleep.ts';
import { connect, isBusy, type SqliteConnection } from './connection.ts';
import { MemoryError } from './memory.ts';
import {
  anotherKnowsNothing,
  identityOf,
  isAbsent,
  makePrivateFile,
  readNote,
  tooManyOpen,
  writeNote,
} from './private-file.ts';
import type { StoreLocation } from './store-location.ts';

export interface Waiting {
  /** Milliseconds to wait for another holder. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Called once if another process holds the lock. */
  readonly onWait: (holder: string) => void;
}

export interface LockOptions extends Waiting {
  readonly file: string;
}

export interface Lock {
  /** Throws a `MemoryError` if its file was removed or replaced: then others can take the lock too. */
  readonly check: () => void;
  readonly release: () => Promise<void>;
}

/**
 * The two locks that a client needs to write, in an order that is the same for everybody. Throws `LockedError`.
 *
 * | lock of   | keeps out                                                    |
 * | --------- | ------------------------------------------------------------ |
 * | the name  | others with the same state, whatever token they have         |
 * | the token | others with the same templates: another name, or version 0.1 |
 */
export const lockClient = async (
  { stateDir, file, scope, token }: StoreLocation,
  waiting: Waiting,
): Promise<Lock> => {
  const take = (name: string): Promise<Lock> =>
    acquireLock({ ...waiting, file: path.join(stateDir, `${name}.db`) }).catch((error: unknown) => {
      throw error instanceof UserError ? error : unusable(stateDir, file, error);
    });
  const own = await take(`name-${scope}`);
  const shared = await take(`lock-${token}`).catch(async (error: unknown) => {
    await own.release();
    throw error;
  });
  return {
    check: () => [own, shared].forEach((lock) => lock.check()),
    release: async () => {
      await shared.release();
      await own.release();
    },
  };
};

const unusable = (stateDir: string, file: string, error: unknown): UserError => {
  const isFile = existsSync(stateDir) && statSync(stateDir).isFile();
  // Of a path that is none, the system's words name a file inside it.
  const isNoPath = error instanceof Error && 'code' in error && error.code === 'ENOTDIR';
  const why = isNoPath ? codeOf(error) : messageOf(error);
  // Whoever leaves a state behind sends again what may still take effect.
  const advice =
    isFile || isNoPath || isAbsent(file)
      ? `set --state-dir to a directory that ${processUser} can write`
      : `let ${processUser} write there; ${anotherKnowsNothing}`;
  const told = tooManyOpen(stateDir, error) ?? `${isFile ? 'it is a file' : why}; ${advice}`;
  return new UserError(
    `the state directory cannot be used, and nothing is written to the service without it: ${stateDir}: ${told}`,
    { cause: error },
  );
};

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
    if (isBusy(error)) return false;
    // It would keep out whoever comes when the disk is mended, this process too.
    await connection.close('now');
    throw error;
  }
};
