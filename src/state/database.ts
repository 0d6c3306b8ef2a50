import { chmodSync, existsSync, renameSync } from 'node:fs';
import type Database from 'libsql';
import { messageOf, UserError } from '../errors.ts';
import { libsql } from './libsql.ts';
import { migrate } from './migrations.ts';
import { makePrivateFile } from './private-file.ts';

/** The file is no database of this program, or not any more. */
export class DamagedMemoryError extends UserError {
  override name = 'DamagedMemoryError';
}

/**
 * Opens the database of the memory, made with mode 0600 where there is none, and looks whether it is whole. What
 * was written is on disk, synced, when a statement returns. Throws `UserError`, and `DamagedMemoryError`.
 */
export const openDatabase = (file: string): Database.Database => {
  let database: Database.Database | undefined;
  try {
    // The mode is set before anything is written: the journal files take it over.
    makePrivateFile(file);
    chmodSync(file, 0o600);
    database = new (libsql())(file, { timeout: 5_000 });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    migrate(database, file);
    checkWhole(database, file);
    return database;
  } catch (error) {
    database?.close();
    throw memoryError(file, error);
  }
};

/** Keeps a damaged database under another name, which is returned: somebody may want to look at it. */
export const moveAside = (file: string): string => {
  const aside = `${file}.damaged-${new Date().toISOString().replaceAll(/[^\d]/g, '')}`;
  try {
    for (const end of databaseFiles) if (existsSync(file + end)) renameSync(file + end, aside + end);
    return aside;
  } catch (error) {
    throw memoryError(file, error);
  }
};

/** Whatever the disk, or SQLite on it, cannot do: a person mends it. */
export const memoryError = (file: string, error: unknown): unknown => {
  if (error instanceof UserError || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return damaged(file, messageOf(error));
  const isOfDisk = code !== '' || error.message.startsWith('ConnectionFailed');
  return isOfDisk
    ? new UserError(`what is remembered in ${file} cannot be used: ${messageOf(error)}`, { cause: error })
    : error;
};

const databaseFiles = ['', '-wal', '-shm'];

/** Some 30 ms for 100,000 records. */
const checkWhole = (database: Database.Database, file: string): void => {
  const [row]: unknown[] = database.prepare('PRAGMA quick_check(1)').all();
  const [problem] = Object.values(row ?? {});
  if (problem !== 'ok') throw damaged(file, String(problem));
  for (const table of ['templates', 'records', 'intents', 'history']) {
    const broken = database.prepare(`SELECT 1 FROM ${table} WHERE NOT json_valid(body) LIMIT 1`).all();
    if (broken.length > 0) throw damaged(file, `a row of ${table} cannot be read`);
  }
};

const damaged = (file: string, problem: string): DamagedMemoryError =>
  new DamagedMemoryError(`the database ${file} is damaged (${problem})`);
