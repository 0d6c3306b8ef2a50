import { UserError } from '../errors.ts';
import { tablesIn } from '../notify/outbox.ts';
import { MemoryError } from '../state/memory.ts';
import { currentTimeline, isMissingTable, type PostgresDatabase, type Query } from './database.ts';

/**
 * Each brings the schema from the version of its index to the next. Never change one that was released. Bodies are JSON
 * as text, since `jsonb` refuses what a service may well put into a record. Rows that are changed often have room for that
 * beside them, so that their indexes stay as they are.
 *
 * | table       | a row is                                                                       |
 * |-------------|--------------------------------------------------------------------------------|
 * | processes   | a process that takes part, and until when it is alive                          |
 * | clients     | a client (`scope`: base URL and name): who owns it, and which files are in use |
 * | files       | which files a process has for a client                                         |
 * | templates … | what is remembered of a client, by its scope                                   |
 * | reports     | what the last pass of a client has found, for all processes to show            |
 * | passes      | which process has made that pass, and when                                     |
 * | compared    | that a client has compared a template, so that no other one manages it         |
 * | requests    | a pass that somebody asked for at a process that does not own the client       |
 * | told …      | what receivers were told and are to be told                                    |
 */
const migrations: readonly string[] = [
  `CREATE TABLE dns_sync.processes (
     id text PRIMARY KEY, is_daemon boolean NOT NULL, place text NOT NULL, address text, version text NOT NULL,
     since timestamptz NOT NULL, alive_until timestamptz NOT NULL, renewals integer NOT NULL DEFAULT 0,
     timeline text NOT NULL, commits text[] NOT NULL DEFAULT '{}') WITH (fillfactor = 50);
   CREATE TABLE dns_sync.clients (
     scope text PRIMARY KEY, base_url text NOT NULL, name text NOT NULL, token text NOT NULL DEFAULT '',
     owner text, epoch bigint NOT NULL DEFAULT 0, claimed_at timestamptz, timeline text NOT NULL DEFAULT '',
     free_since timestamptz NOT NULL DEFAULT '-infinity', wanted_by text, head text, remembered_on text)
     WITH (fillfactor = 50);
   CREATE INDEX clients_by_token ON dns_sync.clients (token);
   CREATE INDEX clients_by_owner ON dns_sync.clients (owner);
   CREATE TABLE dns_sync.files (
     process text NOT NULL, scope text NOT NULL, version text, leads boolean NOT NULL DEFAULT false,
     PRIMARY KEY (process, scope));
   CREATE INDEX files_by_client ON dns_sync.files (scope);
   CREATE TABLE dns_sync.failovers (timeline text NOT NULL, since timestamptz NOT NULL);
   INSERT INTO dns_sync.failovers SELECT ${currentTimeline}, '-infinity';
   CREATE TABLE dns_sync.templates (
     scope text NOT NULL, template_id bigint NOT NULL, revision bigint NOT NULL, body text NOT NULL,
     PRIMARY KEY (scope, template_id));
   CREATE SEQUENCE dns_sync.revisions;
   CREATE TABLE dns_sync.records (
     scope text NOT NULL, template_id bigint NOT NULL, key text NOT NULL, body text NOT NULL,
     PRIMARY KEY (scope, template_id, key));
   CREATE TABLE dns_sync.journal (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, scope text NOT NULL, template_id bigint NOT NULL,
     body text NOT NULL);
   CREATE INDEX journal_of_client ON dns_sync.journal (scope, template_id);
   CREATE TABLE dns_sync.history (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, scope text NOT NULL, at bigint NOT NULL, body text NOT NULL);
   CREATE INDEX history_by_time ON dns_sync.history (scope, at, id);
   CREATE INDEX history_by_id ON dns_sync.history (scope, id);
   CREATE TABLE dns_sync.compared (
     base_url text NOT NULL, template_id bigint NOT NULL, scope text NOT NULL, at timestamptz NOT NULL,
     PRIMARY KEY (base_url, template_id));
   CREATE INDEX compared_by_client ON dns_sync.compared (scope);
   CREATE TABLE dns_sync.suspensions (
     scope text NOT NULL, key text NOT NULL, body text NOT NULL, PRIMARY KEY (scope, key));
   CREATE SEQUENCE dns_sync.report_numbers;
   CREATE TABLE dns_sync.reports (
     scope text PRIMARY KEY, number bigint NOT NULL, process text NOT NULL, digest text, body text NOT NULL);
   CREATE INDEX reports_by_number ON dns_sync.reports (number);
   CREATE TABLE dns_sync.repeated_passes (
     scope text PRIMARY KEY, number bigint NOT NULL, process text NOT NULL, report bigint NOT NULL, pass text NOT NULL)
     WITH (fillfactor = 50);
   CREATE TABLE dns_sync.requests (scope text PRIMARY KEY, run text NOT NULL);
   CREATE TABLE dns_sync.notified (
     receiver text NOT NULL, client text NOT NULL, template text NOT NULL, due_at bigint, delivery text,
     body text NOT NULL, PRIMARY KEY (receiver, client, template));
   CREATE INDEX notified_due ON dns_sync.notified (receiver, due_at) WHERE due_at IS NOT NULL;
   CREATE INDEX notified_begun ON dns_sync.notified (receiver, delivery) WHERE delivery IS NOT NULL;`,
  // Since then rows leave out what the reader knows, which programs of the first version do not read.
  `ALTER TABLE dns_sync.journal DROP COLUMN template_id;
   CREATE INDEX journal_by_client ON dns_sync.journal (scope);
   ALTER TABLE dns_sync.templates ALTER COLUMN revision SET DEFAULT nextval('dns_sync.revisions');
   ALTER TABLE dns_sync.compared ALTER COLUMN at TYPE bigint USING (extract(epoch FROM at) * 1000)::bigint;
   DROP TABLE dns_sync.reports, dns_sync.repeated_passes;
   CREATE TABLE dns_sync.reports (scope text PRIMARY KEY, digest text NOT NULL, body text NOT NULL);
   CREATE TABLE dns_sync.passes (
     scope text PRIMARY KEY, number bigint NOT NULL, process text NOT NULL, digest text NOT NULL, pass text)
     WITH (fillfactor = 50);
   DROP TABLE dns_sync.notified;
   ${tablesIn('dns_sync.')}`,
];

export const schemaVersion = migrations.length;

/** The tables are those of a later program, which this one cannot use. */
export class NewerSchemaError extends UserError {
  override name = 'NewerSchemaError';
}

export const newerSchema = (place: string, version: number): NewerSchemaError =>
  new NewerSchemaError(
    `${place} is used by a newer version of this program (schema ${version}, this one knows ${schemaVersion}): use that version`,
  );

/** The database with its tables, which are made when it is asked for first. Throws `UserError`. */
export const migratedOnce = (open: () => PostgresDatabase): (() => Promise<PostgresDatabase>) => {
  let migrated: Promise<unknown> | null = null;
  return async () => {
    const database = open();
    migrated ??= migrate(database);
    await migrated.catch((error: unknown) => {
      migrated = null;
      throw error;
    });
    return database;
  };
};

export const migrate = async (database: PostgresDatabase): Promise<void> => {
  await refuseOldProcesses(database);
  if ((await versionOf(database)) === schemaVersion) return;
  await database.transaction(async (query) => {
    await lockMigrations(query, database);
    // Not by the name of the table: a connection goes by what it found before somebody else made it.
    const made = await query("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'dns_sync'");
    if (made.length === 0) await begin(query, database.place);
    const [row] = await query<{ version: number }>('SELECT version FROM dns_sync.schema_version');
    for (const migration of migrations.slice(row?.version ?? 0)) await query(migration, [], patience);
    await query('UPDATE dns_sync.schema_version SET version = $1', [schemaVersion]);
  });
};

/** Whether anything was ever saved in it. Throws `UserError`. */
export const hasTables = async (database: PostgresDatabase): Promise<boolean> => {
  const version = await versionOf(database);
  if (version > 0 && version < schemaVersion)
    throw new MemoryError(
      `${database.place} has the tables of an earlier version, which run or apply upgrades`,
    );
  return version > 0;
};

/** 0 where there is nothing yet. */
const versionOf = async ({ query, place }: PostgresDatabase): Promise<number> => {
  try {
    const [row] = await query<{ version: number }>('SELECT version FROM dns_sync.schema_version');
    const version = row?.version ?? 0;
    if (version > schemaVersion) throw newerSchema(place, version);
    return version;
  } catch (error) {
    if (isMissingTable(error)) return 0;
    throw error;
  }
};

/** Programs of 0.1 know nothing of these tables: both would write. */
const refuseOldProcesses = async ({ query, place }: PostgresDatabase): Promise<void> => {
  const found = await query<{ holder: string }>(
    'SELECT holder FROM dns_template_sync.leases WHERE lease_until > clock_timestamp() ORDER BY lease_until DESC',
  ).catch((error: unknown) => {
    if (isMissingTable(error)) return [];
    throw error;
  });
  if (found[0] === undefined) return;
  throw new UserError(
    `${place} is in use by processes of version 0.1, whose state this version does not read: ${found[0].holder}. Stop all of them, wait for unknownPause, and start again`,
  );
};

const begin = async (query: Query, place: string): Promise<void> => {
  const [encoding] = await query<{ server_encoding: string }>('SHOW server_encoding');
  if (encoding?.server_encoding !== 'UTF8')
    throw new UserError(
      `${place} has the encoding ${encoding?.server_encoding}, which cannot store every name and text of DNS: create a database with ENCODING 'UTF8' TEMPLATE template0`,
    );
  await query('CREATE SCHEMA dns_sync');
  await query('CREATE TABLE dns_sync.schema_version (version integer NOT NULL)');
  await query('INSERT INTO dns_sync.schema_version VALUES (0)');
};

/** Two that begin at once would make the same tables; the lock ends with the transaction. */
const lockMigrations = async (query: Query, database: PostgresDatabase): Promise<void> => {
  try {
    await query('SELECT pg_advisory_xact_lock($1)', [migrationLock], patience);
  } catch (error) {
    const holders = await database.query<{ usename: string }>(otherHolders).catch(() => []);
    if (holders.length === 0) throw error;
    const names = holders.map(({ usename }) => usename).join(', ');
    throw new MemoryError(
      `the tables in ${database.place} cannot be made while other roles hold advisory locks in that database: ${names}. End their sessions, and let no other role connect: REVOKE CONNECT ON DATABASE … FROM PUBLIC`,
      { cause: error },
    );
  }
};

/** Any role that may connect to the database may take any advisory lock. */
const otherHolders = `SELECT DISTINCT a.usename FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a USING (pid)
  WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database() AND a.usename <> current_user`;

/** Any number that no other program is likely to have taken. */
const migrationLock = 4_771_009_326;

/** Milliseconds. */
const patience = 10_000;
