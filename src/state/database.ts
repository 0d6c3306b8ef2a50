import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { connect, type SqliteConnection } from './connection.ts';
import { MemoryError, type Instant } from './memory.ts';
import { makePrivate, makePrivateFile } from './private-file.ts';
import { createTables, foreignSchema, isEmpty, upgrade, type Loss } from './schema.ts';

/** The file cannot be used as a database of this program, and never will be. */
export class DamagedMemoryError extends MemoryError {
  override name = 'DamagedMemoryError';
  readonly kind: 'damaged' | 'earlier';

  constructor(message: string, kind: 'damaged' | 'earlier' = 'damaged') {
    super(message);
    this.kind = kind;
  }
}

export interface Opening {
  readonly now: Instant;
  readonly warn: (message: string) => void;
  /** What was lost, if the file is to be made. */
  readonly lost?: Loss;
}

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
    upgrade(connection);
    connection.exec(pragmas);
    checkWhole(connection, file);
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

const checkSchema = (connection: SqliteConnection, file: string): void => {
  const schema = foreignSchema(connection, file);
  if (schema === 'earlier') throw new DamagedMemoryError(`${file} is of version 0.1`, 'earlier');
  if (schema === 'foreign') throw damaged(file, 'its tables are not those of this program');
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
  if (connection.all('SELECT 1 FROM origin').length !== 1) throw damaged(file, 'it has no beginning');
};

/** The check groups the rows of each table by these columns. */
const parts = {
  templates: 'scope',
  records: 'scope, template_id',
  journal: 'scope',
  history: 'id / 1000',
  clients: 'scope',
  suspensions: 'scope',
  origin: 'rowid',
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
