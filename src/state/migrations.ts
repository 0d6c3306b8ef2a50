import type Database from 'libsql';
import { UserError } from '../errors.ts';

/** Each brings the schema from the version of its index to the next. Never change one that was released. */
const migrations = [
  `CREATE TABLE templates (
     scope TEXT NOT NULL, template_id INTEGER NOT NULL, body TEXT NOT NULL,
     PRIMARY KEY (scope, template_id)) WITHOUT ROWID;
   CREATE TABLE records (
     scope TEXT NOT NULL, template_id INTEGER NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
     PRIMARY KEY (scope, template_id, key)) WITHOUT ROWID;
   CREATE TABLE intents (id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, body TEXT NOT NULL);
   CREATE TABLE history (
     id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, at INTEGER NOT NULL,
     template TEXT NOT NULL, outcome TEXT NOT NULL, body TEXT NOT NULL);
   CREATE INDEX history_by_time ON history (scope, at);`,
];

/** Throws a `UserError` where a newer version of this program wrote the file. */
export const migrate = (database: Database.Database, file: string): void => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf(database);
    if (version > migrations.length) {
      throw new UserError(
        `${file} was written by a newer version of this program (schema ${version}, this one knows ${migrations.length}): use that version, or another --state-dir`,
      );
    }
    for (const migration of migrations.slice(version)) database.exec(migration);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
};

const versionOf = (database: Database.Database): number => {
  const row: unknown = database.prepare('PRAGMA user_version').get();
  return typeof row === 'object' && row !== null && 'user_version' in row ? Number(row.user_version) : 0;
};
