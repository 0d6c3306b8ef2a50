import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { sleep } from '../lib/sleep.ts';
import { suspensionKey, type Suspension } from '../model/suspension.ts';
import { connect, isBusy, type SqliteConnection } from './connection.ts';
import { MemoryError, type Instant } from './memory.ts';
import { anotherKnowsNothing, makePrivate, makePrivateFile, tooManyOpen } from './private-file.ts';
import { tablesOf, type Dialect } from './tables.ts';

/** The file cannot be used as a database of this program, and never will be. */
export class DamagedMemoryError extends MemoryError {
  override name = 'DamagedMemoryError';
}

/** That writes were forgotten which may still take effect. */
export interface Loss {
  readonly at: Instant;
  /** For people: what happened to which file. */
  readonly why: string;
}

/** SQLite's words. Texts are asked for as bytes: libsql ends the process when it returns one that is not UTF-8. */
export const dialect: Dialect = {
  schema: '',
  id: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  keyed: ' WITHOUT ROWID',
  revision: 'random() & 9007199254740991',
  text: (expression) => `CAST(${expression} AS BLOB)`,
  each: (parameter) => `json_each(${parameter})`,
  object: (key, value) => `json_group_object(CAST(${key} AS text), ${value})`,
  // Some 30 MB.
  mostWrites: 50_000,
};

const tables = [...tablesOf(dialect), 'CREATE TABLE origin (body text NOT NULL)'];

/** Another one makes way for a new file. */
const currentVersion = 8;

/** Opens the database of the state and checks it; creates it with mode 0600 if it is missing. Throws `UserError`. */
export const openDatabase = async (
  file: string,
  warn: (message: string) => void,
): Promise<SqliteConnection> => {
  let connection: SqliteConnection | undefined;
  try {
    // The mode is set before anything is written: the journal files get the same mode.
    makePrivateFile(file);
    makePrivate(file, warn);
    connection = connect(file, { timeout: 5_000 });
    connection.exec('PRAGMA trusted_schema = OFF');
    if (isEmpty(connection)) createTables(connection);
    checkSchema(connection, file);
    await setUp(connection);
    checkPages(connection, file);
    return connection;
  } catch (error) {
    await connection?.close('now');
    throw memoryError(file, error);
  }
};

/** Two processes that make the same file refuse each other its journal, and SQLite does not wait there. */
const setUp = async (connection: SqliteConnection): Promise<void> => {
  const end = performance.now() + 5_000;
  for (;;)
    try {
      connection.exec(pragmas);
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= end) throw error;
      await sleep(20);
    }
};

/** The journal is merged into the file soon after 1 MB, and is truncated to that. */
const pragmas = `
  PRAGMA journal_mode = WAL;
  PRAGMA wal_autocheckpoint = 256;
  PRAGMA journal_size_limit = 1048576;`;

/** The database and its journals. */
export const filesOf = (file: string): string[] => ['', '-wal', '-shm'].map((end) => file + end);

/** Moves a file that cannot be used aside. Returns its new name. */
export const moveAside = (file: string): string => {
  const aside = `${file}.damaged-${new Date().toISOString().replaceAll(/[^\d]/g, '')}`;
  for (const one of filesOf(file)) if (existsSync(one)) renameSync(one, aside + one.slice(file.length));
  return aside;
};

/** By which the next process knows the database again. */
export const markFileOf = (file: string): string => `${file}.mark`;

/** Nobody has it open. */
export const removeDatabase = (file: string): void => {
  for (const one of [...filesOf(file), markFileOf(file)]) rmSync(one, { force: true });
};

/** A failure of the disk, or of SQLite on it, that a person has to repair. */
export const memoryError = (file: string, error: unknown): unknown => {
  if (error instanceof UserError || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (damages.test(code) || error instanceof SyntaxError || /^no such (table|column)/.test(error.message))
    return damaged(file, messageOf(error));
  const isOfDisk = code !== '' || error.message.startsWith('ConnectionFailed');
  return isOfDisk
    ? new MemoryError(
        `the state in ${file} cannot be used, and nothing is written to the service without it: ${tooManyOpen(dirname(file), error) ?? `${code === 'ENOTDIR' ? codeOf(error) : messageOf(error)}; ${adviceOn(error.message)}`}`,
        { cause: error },
      )
    : error;
};

const damaged = (file: string, problem: string): DamagedMemoryError =>
  new DamagedMemoryError(`the database ${file} is damaged (${problem})`);

/** Also of a row that is no text, or no JSON: somebody else has changed it. */
const damages = /^(SQLITE_(NOTADB|CORRUPT)|ERR_ENCODING_INVALID_ENCODED_DATA)/;

const adviceOn = (message: string): string =>
  /\bfull\b|ENOSPC/.test(message)
    ? 'free some space on the disk'
    : message.startsWith('ENOTDIR')
      ? 'set --state-dir to a directory'
      : `check the disk and the permissions of the directory; ${anotherKnowsNothing}`;

const isEmpty = (connection: SqliteConnection): boolean =>
  connection.all('SELECT 1 FROM sqlite_master LIMIT 1').length === 0;

const createTables = (connection: SqliteConnection): void => {
  connection.exec('BEGIN IMMEDIATE');
  // Another process may have made them meanwhile. Where this fails the connection is closed, which rolls back.
  if (isEmpty(connection)) {
    connection.exec(`${tables.join(';')}; PRAGMA user_version = ${currentVersion}`);
    const origin: Origin = { id: randomUUID(), lost: null };
    connection.all('INSERT INTO origin VALUES ($1)', [JSON.stringify(origin)]);
  }
  connection.exec('COMMIT');
};

const checkSchema = (connection: SqliteConnection, file: string): void => {
  const { user_version: found } = connection.all<{ user_version: number }>('PRAGMA user_version')[0]!;
  if (found > currentVersion)
    throw new UserError(
      `${file} was written by a newer version of this program (schema ${found}, this one knows ${currentVersion}): use that version; ${anotherKnowsNothing}`,
    );
  if (found > 0 && found < currentVersion)
    throw new DamagedMemoryError(`${file} is of version 0.1, or of a preview of 0.2`);
  const own = tables.filter((sql) => sql.startsWith('CREATE TABLE'));
  const there = connection.all<{ text: string }>(madeThere).map(({ text }) => text);
  if (own.toSorted().join() !== there.toSorted().join())
    throw damaged(file, 'its tables are not those of this program');
};

/** Also triggers and views, which would change what statements do. */
const madeThere =
  "SELECT CAST(sql AS BLOB) AS text FROM sqlite_master WHERE type <> 'index' AND name NOT LIKE 'sqlite_%'";

/** A row that cannot be read is found when it is read; one of the journal that its index does not find is found here. */
const checkPages = (connection: SqliteConnection, file: string): void => {
  for (const check of ['quick_check(1)', 'integrity_check(journal)']) {
    const [problem] = Object.values(connection.all<object>(`PRAGMA ${check}`)[0] ?? {});
    if (problem !== 'ok') throw damaged(file, String(problem));
  }
  if (connection.all('SELECT 1 FROM origin').length !== 1) throw damaged(file, 'it has no beginning');
};

/** Of a file: no other one has the same id. `lost`: before it was made, or since. */
interface Origin {
  readonly id: string;
  readonly lost: Loss | null;
}

/** Also the number of the last entry that its journal ever had. */
export const originIn = (connection: SqliteConnection): Origin & { readonly entries: number } => {
  const [row] = connection.all<{ body: string; entries: number }>(
    `SELECT CAST(body AS BLOB) AS body,
      coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'journal'), 0) AS entries FROM origin`,
  );
  const { body, entries } = row!;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own
  return { ...(JSON.parse(body) as Origin), entries };
};

export const noteOrigin = (connection: SqliteConnection, { id, lost }: Origin): void =>
  void connection.all('UPDATE origin SET body = $1', [JSON.stringify({ id, lost })]);

type SavedSuspension = Readonly<Record<'scope' | 'key' | 'body', string>>;

/** Of a file that cannot be used; null if one query does not read them. */
export const readSuspensions = async (file: string): Promise<readonly SavedSuspension[] | null> => {
  const connection = connect(file, { timeout: 5_000 });
  try {
    const found = connection.all<SavedSuspension>(suspended);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is compared
    const areTheirs = found.every(({ key, body }) => suspensionKey(JSON.parse(body) as Suspension) === key);
    return areTheirs ? found : null;
  } catch {
    return null;
  } finally {
    await connection.close('now');
  }
};

/** As bytes, which may be anything. Version 0.1 had no base URL there, and other scopes. */
const suspended = `SELECT CAST(scope AS BLOB) AS scope, CAST(key AS BLOB) AS key, CAST(body AS BLOB) AS body
  FROM suspensions LEFT JOIN (SELECT scope, base_url FROM clients) AS client USING (scope)`;
