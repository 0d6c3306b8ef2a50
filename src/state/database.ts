import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { connect, withTexts, type SqliteConnection } from './connection.ts';
import { MemoryError, type Instant } from './memory.ts';
import { makePrivate, makePrivateFile } from './private-file.ts';
import { tablesOf, type Dialect } from './tables.ts';

/** The file cannot be used as a database of this program, and never will be. */
export class DamagedMemoryError extends MemoryError {
  override name = 'DamagedMemoryError';
  readonly kind: 'damaged' | 'earlier';

  constructor(message: string, kind: 'damaged' | 'earlier' = 'damaged') {
    super(message);
    this.kind = kind;
  }
}

/** When a file was made, and what was lost before it or since. */
export interface Origin {
  /** No other file has the same. */
  readonly id: string;
  readonly lost: Loss | null;
}

/** That writes were forgotten which may still take effect. */
export interface Loss {
  readonly at: Instant;
  /** For people: what happened to which file. */
  readonly why: string;
}

export interface Opening {
  readonly now: Instant;
  readonly warn: (message: string) => void;
  /** What was lost, if the file is to be made. */
  readonly lost?: Loss;
}

/** SQLite's words. Texts are asked for as bytes: libsql ends the process when it returns one that is not UTF-8. */
export const dialect: Dialect = {
  schema: '',
  id: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  keyed: ' WITHOUT ROWID',
  revision: 'random() & 9007199254740991',
  text: (column) => `CAST(${column} AS BLOB) AS ${column}`,
  each: (parameter) => `json_each(${parameter})`,
  // Some 30 MB.
  mostWrites: 50_000,
};

const tables = [...tablesOf(dialect), 'CREATE TABLE origin (body text NOT NULL)'];

/** Another one makes way for a new file. */
const currentVersion = 7;

/**
 * Opens the database of the state and checks it; creates it with mode 0600 if it is missing. What
 * was written is on disk, synced, when a statement returns. Throws `UserError`, and `DamagedMemoryError`.
 */
export const openDatabase = async (file: string, opening: Opening): Promise<SqliteConnection> => {
  let connection: SqliteConnection | undefined;
  try {
    const wasThere = statSync(file, { throwIfNoEntry: false }) !== undefined;
    // The mode is set before anything is written: the journal files get the same mode.
    makePrivateFile(file);
    makePrivate(file, opening.warn);
    connection = connect(file, { timeout: 5_000 });
    connection.exec('PRAGMA trusted_schema = OFF');
    if (isEmpty(connection)) {
      const emptied = wasThere ? { at: opening.now, why: `${file} was empty` } : null;
      createTables(connection, { id: randomUUID(), lost: opening.lost ?? emptied });
    }
    checkSchema(connection, file);
    connection.exec(pragmas);
    checkPages(connection, file);
    return connection;
  } catch (error) {
    await connection?.close('now');
    throw memoryError(file, error);
  }
};

/** The journal is merged into the file soon after 256 kB, and is truncated to that. */
const pragmas = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 64;
  PRAGMA journal_size_limit = 262144;`;

/** The database and its journals. */
export const filesOf = (file: string): string[] => ['', '-wal', '-shm'].map((end) => file + end);

/** By which the next process knows the database again. */
export const markFileOf = (file: string): string => `${file}.mark`;

/** A failure of the disk, or of SQLite on it, that a person has to repair. */
export const memoryError = (file: string, error: unknown): unknown => {
  if (error instanceof UserError || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (damages.test(code) || error instanceof SyntaxError || /^no such (table|column)/.test(error.message))
    return damaged(file, messageOf(error));
  const isOfDisk = code !== '' || error.message.startsWith('ConnectionFailed');
  return isOfDisk
    ? new MemoryError(
        `the state in ${file} cannot be used, and nothing is written to the service without it: ${code === 'ENOTDIR' ? codeOf(error) : messageOf(error)}; ${adviceOn(error.message)}`,
        { cause: error },
      )
    : error;
};

/** Also of a row that is no text, or no JSON: somebody else has changed it. */
const damages = /^(SQLITE_(NOTADB|CORRUPT)|ERR_ENCODING_INVALID_ENCODED_DATA)/;

const adviceOn = (message: string): string =>
  /\bfull\b|ENOSPC/.test(message)
    ? 'free some space on the disk'
    : 'check the disk and the permissions of the directory, or set --state-dir to another one';

const isEmpty = (connection: SqliteConnection): boolean =>
  connection.get('SELECT 1 FROM sqlite_master') === undefined;

const createTables = (connection: SqliteConnection, origin: Origin): void => {
  connection.exec('BEGIN IMMEDIATE');
  // Another process may have made them meanwhile. Where this fails the connection is closed, which rolls back.
  if (isEmpty(connection)) {
    connection.exec(`${tables.join(';')}; PRAGMA user_version = ${currentVersion}`);
    connection.all('INSERT INTO origin VALUES (?)', JSON.stringify(origin));
  }
  connection.exec('COMMIT');
};

const checkSchema = (connection: SqliteConnection, file: string): void => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column that was asked for
  const { user_version: found } = connection.get('PRAGMA user_version') as { user_version: number };
  if (found > currentVersion)
    throw new UserError(
      `${file} was written by a newer version of this program (schema ${found}, this one knows ${currentVersion}): use that version, or another --state-dir`,
    );
  if (found > 0 && found < currentVersion)
    throw new DamagedMemoryError(`${file} is of version 0.1, or of a preview of 0.2`, 'earlier');
  const own = tables.filter((sql) => sql.startsWith('CREATE TABLE'));
  const there = connection.all(madeThere).map((row) => textIn(row));
  if (own.toSorted().join() !== there.toSorted().join())
    throw damaged(file, 'its tables are not those of this program');
};

/** Also triggers and views, which would change what statements do. */
const madeThere =
  "SELECT CAST(sql AS BLOB) AS text FROM sqlite_master WHERE type <> 'index' AND name NOT LIKE 'sqlite_%'";

/** A row that cannot be read is found when it is read. */
const checkPages = (connection: SqliteConnection, file: string): void => {
  const [problem] = Object.values(connection.get('PRAGMA quick_check(1)') ?? {});
  if (problem !== 'ok') throw damaged(file, String(problem));
  if (connection.all('SELECT 1 FROM origin').length !== 1) throw damaged(file, 'it has no beginning');
};

export const originIn = (connection: SqliteConnection): Origin => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own
  return JSON.parse(textIn(connection.get('SELECT CAST(body AS BLOB) AS text FROM origin'))) as Origin;
};

/** The number of the last entry that its journal ever had. */
export const entriesIn = (connection: SqliteConnection): number => {
  const row = connection.get("SELECT seq FROM sqlite_sequence WHERE name = 'journal'");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column that was asked for
  return (row as { seq: number } | undefined)?.seq ?? 0;
};

/** Throws if it is not UTF-8. */
const textIn = (row: unknown): string =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column that was asked for
  withTexts(row as { readonly text: string }).text;

const damaged = (file: string, problem: string): DamagedMemoryError =>
  new DamagedMemoryError(`the database ${file} is damaged (${problem})`);
