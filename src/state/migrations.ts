import { UserError } from '../errors.ts';
import type { SqliteConnection } from './connection.ts';

/** Creates a client for each scope without one. */
export const takeInScopes = `
   INSERT OR IGNORE INTO clients SELECT scope, json_object('scope', scope, 'baseUrl', NULL, 'name', NULL)
     FROM (SELECT scope FROM templates UNION SELECT scope FROM intents UNION SELECT scope FROM history);
   INSERT OR IGNORE INTO tokens SELECT scope, scope FROM clients;`;

/** Each upgrades the schema from the version of its index to the next. Never change a released one. */
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
  // Each scope was the digest of a base URL and a token, neither of which was saved.
  `CREATE TABLE clients (scope TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE tokens (digest TEXT PRIMARY KEY, scope TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE client_templates (
     scope TEXT NOT NULL, template_id INTEGER NOT NULL, PRIMARY KEY (scope, template_id)) WITHOUT ROWID;
   CREATE VIEW known_templates AS
     SELECT scope, template_id FROM client_templates UNION SELECT scope, template_id FROM templates
     UNION SELECT scope, json_extract(body, '$.templateId') FROM intents;
   ${takeInScopes}`,
  `CREATE TABLE suspensions (
     scope TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (scope, key)) WITHOUT ROWID;`,
];

/** Whether a migration has this statement, as SQLite keeps it. */
export const isOwnSchema = (sql: string): boolean =>
  migrations.some((migration) => migration.includes(`${sql};`));

/** Throws a `UserError` if a newer version of this program wrote the file. Writes nothing if it is up to date. */
export const migrate = (connection: SqliteConnection, file: string): void => {
  if (versionOf(connection) === migrations.length) return;
  connection.transaction(() => {
    const version = versionOf(connection);
    if (version > migrations.length) {
      throw new UserError(
        `${file} was written by a newer version of this program (schema ${version}, this one knows ${migrations.length}): use that version, or another --state-dir`,
      );
    }
    for (const migration of migrations.slice(version)) connection.exec(migration);
    connection.exec(`PRAGMA user_version = ${migrations.length}`);
  });
};

const versionOf = (connection: SqliteConnection): number => {
  const row = connection.get('PRAGMA user_version');
  return typeof row === 'object' && row !== null && 'user_version' in row ? Number(row.user_version) : 0;
};
