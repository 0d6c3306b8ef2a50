import { isUtf8 } from 'node:buffer';
import { UserError } from '../errors.ts';
import type { SqliteConnection } from './connection.ts';
import type { Instant } from './memory.ts';

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

const schema = `CREATE TABLE templates (
     scope TEXT NOT NULL, template_id INTEGER NOT NULL, body TEXT NOT NULL,
     PRIMARY KEY (scope, template_id)) WITHOUT ROWID;
   CREATE TABLE records (
     scope TEXT NOT NULL, template_id INTEGER NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
     PRIMARY KEY (scope, template_id, key)) WITHOUT ROWID;
   CREATE TABLE journal (id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, body TEXT NOT NULL);
   CREATE TABLE history (
     id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, at INTEGER NOT NULL,
     template TEXT NOT NULL, outcome TEXT NOT NULL, body TEXT NOT NULL);
   CREATE INDEX history_by_time ON history (scope, at);
   CREATE TABLE suspensions (
     scope TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (scope, key)) WITHOUT ROWID;
   CREATE TABLE clients (scope TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE compared (
     base_url TEXT NOT NULL, template_id INTEGER NOT NULL, scope TEXT NOT NULL, at INTEGER NOT NULL,
     PRIMARY KEY (base_url, template_id)) WITHOUT ROWID;
   CREATE TABLE origin (body TEXT NOT NULL);`;

/** Versions before the first one were those of 0.1. */
const firstVersion = 5;
const currentVersion = 5;

/** Whether nothing was ever stored in it. */
export const isEmpty = (connection: SqliteConnection): boolean =>
  connection.get('SELECT 1 FROM sqlite_master') === undefined;

export const createTables = (connection: SqliteConnection, origin: Origin): void =>
  connection.transaction(() => {
    // Another process may have made them meanwhile.
    if (!isEmpty(connection)) return;
    connection.exec(`${schema} PRAGMA user_version = ${currentVersion}`);
    connection.run('INSERT INTO origin VALUES (?)', JSON.stringify(origin));
  });

/** What keeps it from being used: a newer version, which throws a `UserError`, version 0.1, or another program. */
export const foreignSchema = (connection: SqliteConnection, file: string): 'earlier' | 'foreign' | null => {
  const found = versionOf(connection);
  if (found > currentVersion)
    throw new UserError(
      `${file} was written by a newer version of this program (schema ${found}, this one knows ${currentVersion}): use that version, or another --state-dir`,
    );
  if (found > 0 && found < firstVersion) return 'earlier';
  const own = schema.split(/;\s*/).filter((sql) => !sql.startsWith('CREATE INDEX'));
  const there = connection.all(madeThere).map(textOf);
  return own.filter(Boolean).toSorted().join() === there.toSorted().join() ? null : 'foreign';
};

/** Brings tables of an earlier version up to date. */
export const upgrade = (connection: SqliteConnection): void => {
  if (versionOf(connection) < currentVersion) connection.exec(`PRAGMA user_version = ${currentVersion}`);
};

/** Also triggers and views, which would change what statements do. */
const madeThere =
  "SELECT CAST(sql AS BLOB) AS sql FROM sqlite_master WHERE type <> 'index' AND name NOT LIKE 'sqlite_%'";

/** libsql ends the process when it returns text that is not UTF-8. */
const textOf = (row: unknown): string => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column that was asked for
  const bytes = Buffer.from((row as { sql: ArrayBuffer }).sql);
  return isUtf8(bytes) ? bytes.toString() : '';
};

const versionOf = (connection: SqliteConnection): number => {
  const row = connection.get('PRAGMA user_version');
  return typeof row === 'object' && row !== null && 'user_version' in row ? Number(row.user_version) : 0;
};
