import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type Database from 'libsql';
import { UserError } from '../errors.ts';
import { libsql } from './libsql.ts';
import { makePrivateFile } from './private-file.ts';

export interface LockOptions {
  readonly file: string;
  /** Milliseconds to wait for another holder. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Told once, if somebody else holds the lock. */
  readonly onWait: (holder: string) => void;
}

export interface Lock {
  release(): void;
}

/** Another process holds the lock, and went on holding it. */
export class LockedError extends UserError {
  override name = 'LockedError';
}

/**
 * An exclusive lock on a file, held through SQLite and so by the operating system: it is free again as soon as its
 * holder has died, however that died. Throws `LockedError` after `timeout`.
 */
export const acquireLock = async ({ file, timeout, signal, onWait }: LockOptions): Promise<Lock> => {
  makePrivateFile(file);
  const database = new (libsql())(file, { timeout: 0 });
  const end = performance.now() + timeout;
  let isTold = false;
  while (!takes(database)) {
    const holder = holderOf(file);
    if (!isTold) onWait(holder);
    isTold = true;
    if (signal.aborted || performance.now() >= end) {
      database.close();
      throw new LockedError(`another pass for this client is running: ${holder}`);
    }
    await setTimeout(interval, undefined, { signal }).catch(() => undefined);
  }
  const sayWho = (text: string): void => noteHolder(`${file}.holder`, text);
  sayWho(`process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}`);
  return {
    release: () => {
      sayWho('');
      database.close();
    },
  };
};

const interval = 50;

const takes = (database: Database.Database): boolean => {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return false;
    throw error;
  }
};

/** Only for people: what counts is the lock, which a full disk must not keep. */
const noteHolder = (file: string, text: string): void => {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    // Whoever waits is told that the holder is unknown.
  }
};

const holderOf = (file: string): string => {
  try {
    return readFileSync(`${file}.holder`, 'utf8') || 'holder unknown';
  } catch {
    return 'holder unknown';
  }
};
