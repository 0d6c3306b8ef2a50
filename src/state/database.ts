import { isUtf8 } from 'node:buffer';
import { existsSync, renameSync } from 'node:fs';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { connect, type SqliteConnection } from './connection.ts';
import { MemoryError } from './memory.ts';
import { isOwnSchema, migrate } from './migrations.ts';
import { makePrivate, makePrivateFile } from './private-file.ts';

/** The file is not a valid database of this program. */
export class DamagedMemoryError extends MemoryError {
  override name = 'DamagedMemoryError';
}

/**
 * Opens the database of the state and checks it; creates it with mode 0600 if it is missing. What
 * was written is on disk, synced, when a statement returns. Throws `UserError`, and `DamagedMemoryError`.
 */
export const openDatabase = async (file: string): Promise<SqliteConnection> => {
  let connection: SqliteConnection | undefined;
  try {
    // The mode is set before anything is written: the journal files get the same mode.
    makePrivateFile(file);
    makePrivate(file);
    connection = connect(file, { timeout: 5_000 });
    connection.exec(pragmas);
    checkSchema(connection, file);
    migrate(connection, file);
    connection.exec(indexes);
    checkWhole(connection, file);
    return connection;
  } catch (error) {
    await connection?.close('now');
    throw memoryError(file, error);
  }
};

/** The journal is merged into the file soon after 256 kB, and is truncated to that. */
const pragmas = `
  PRAGMA trusted_schema = OFF;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 64;
  PRAGMA journal_size_limit = 262144;`;

/** Who knows a template is asked in every pass. Other versions of this program need not know of these. */
const indexes = `
  CREATE INDEX IF NOT EXISTS client_templates_by_id ON client_templates (template_id);
  CREATE INDEX IF NOT EXISTS templates_by_id ON templates (template_id);`;

/** Renames a database, so that people can examine it. Returns the new name. */
export const quarantine = (file: string, why: 'damaged' | 'copied'): string => {
  const aside = `${file}.${why}-${new Date().toISOString().replaceAll(/[^\d]/g, '')}`;
  try {
    for (const one of filesOf(file)) if (existsSync(one)) renameSync(one, aside + one.slice(file.length));
    return aside;
  } catch (error) {
    throw memoryError(file, error);
  }
};

/** The database and its journals. */
export const filesOf = (file: string): string[] => ['', '-wal', '-shm'].map((end) => file + end);

/** A failure of the disk, or of SQLite on it, that a person has to repair. */
export const memoryError = (file: string, error: unknown): unknown => {
  if (error instanceof UserError || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return damaged(file, messageOf(error));
  const isOfDisk = code !== '' || error.message.startsWith('ConnectionFailed');
  return isOfDisk
    ? new MemoryError(
        `the state in ${file} cannot be used, and nothing is written to the service without it: ${code === 'ENOTDIR' ? codeOf(error) : messageOf(error)}; ${adviceOn(error.message)}`,
        { cause: error },
      )
    : error;
};

const adviceOn = (message: string): string =>
  /\bfull\b|ENOSPC/.test(message)
    ? 'free some space on the disk'
    : 'check the disk and the permissions of the directory, or set --state-dir to another one';

/** A trigger, or a view of another's making, would change what statements do. */
const checkSchema = (connection: SqliteConnection, file: string): void => {
  const programs = connection.all(
    "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')",
  );
  for (const program of programs) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
    const { type, name, sql } = program as { type: string; name: string; sql: string };
    if (!isOwnSchema(sql)) throw damaged(file, `the ${type} ${name} is not of this program`);
  }
};

/** Some 150 ms for 100,000 records. */
const checkWhole = (connection: SqliteConnection, file: string): void => {
  const [row]: unknown[] = connection.all('PRAGMA quick_check(1)');
  const [problem] = Object.values(row ?? {});
  if (problem !== 'ok') throw damaged(file, String(problem));
  for (const [table, part] of Object.entries(parts)) {
    const sql = `SELECT CAST(group_concat(body, '') AS BLOB) AS text, min(${isObject}) AS isJson FROM ${table} GROUP BY ${part}`;
    if (!connection.all(sql).every(isReadable)) throw damaged(file, `a row of ${table} cannot be read`);
  }
};

/** The check groups the rows of each table by these columns. */
const parts = {
  templates: 'scope',
  records: 'scope, template_id',
  intents: 'scope',
  history: 'id / 1000',
  clients: 'scope',
  suspensions: 'scope',
};

const isObject = "CASE WHEN json_valid(body) THEN json_type(body) = 'object' ELSE 0 END";

/** libsql ends the process when it returns text that is not UTF-8, so texts are read as bytes. */
const isReadable = (row: unknown): boolean => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
  const { text, isJson } = row as { text: ArrayBuffer | null; isJson: number };
  return text !== null && isJson === 1 && isUtf8(new Uint8Array(text));
};

const damaged = (file: string, problem: string): DamagedMemoryError =>
  new DamagedMemoryError(`the database ${file} is damaged (${problem})`);
