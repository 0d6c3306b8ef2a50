import { UserError } from '../errors.ts';
import { MemoryError } from '../state/memory.ts';
import { tablesOf, type Query } from '../state/tables.ts';
import { currentTimeline, dialect, isMissingTable, type PostgresDatabase } from './database.ts';

/** Of the tables. Those of another one are left alone. */
export const schemaVersion = 5;

/**
 * Rows that are changed often have room for that beside them, so that their indexes stay as they are.
 *
 * | table       | a row is                                                                       |
 * |-------------|--------------------------------------------------------------------------------|
 * | processes   | a process that takes part, and until when it is alive                          |
 * | clients     | a client (`scope`: base URL and name): who owns it, and which files are in use |
 * | files       | which files a process has for a client                                         |
 * | templates … | what is remembered of a client, by its scope                                   |
 * | reports     | what the last pass of a client has found, and when, for all processes to show  |
 * | requests    | a pass that somebody asked for at a process that does not own the client       |
 * | told …      | what receivers were told and are to be told                                    |
 */
const schema = `CREATE SCHEMA dns_sync;
  CREATE TABLE dns_sync.schema_version AS SELECT ${schemaVersion} AS version;
  CREATE SEQUENCE dns_sync.revisions;
  CREATE SEQUENCE dns_sync.report_numbers;
  ${tablesOf(dialect).join(';\n')};
  ALTER TABLE dns_sync.clients
    ADD owner text, ADD epoch bigint NOT NULL DEFAULT 0, ADD claimed_at timestamptz, ADD timeline text NOT NULL DEFAULT '',
    ADD free_since timestamptz NOT NULL DEFAULT '-infinity', ADD wanted_by text, ADD head text, ADD remembered_on text,
    SET (fillfactor = 50);
  CREATE INDEX clients_by_token ON dns_sync.clients (token);
  CREATE INDEX clients_by_owner ON dns_sync.clients (owner);
  CREATE INDEX history_by_id ON dns_sync.history (scope, id);
  CREATE TABLE dns_sync.processes (
    id text PRIMARY KEY, is_daemon boolean NOT NULL, place text NOT NULL, address text, version text NOT NULL,
    since timestamptz NOT NULL, alive_until timestamptz NOT NULL, renewals integer NOT NULL DEFAULT 0,
    timeline text NOT NULL, commits text[] NOT NULL DEFAULT '{}') WITH (fillfactor = 50);
  CREATE TABLE dns_sync.files (
    process text NOT NULL, scope text NOT NULL, version text, leads boolean NOT NULL DEFAULT false,
    PRIMARY KEY (process, scope));
  CREATE INDEX files_by_client ON dns_sync.files (scope);
  CREATE TABLE dns_sync.failovers (timeline text NOT NULL, since timestamptz NOT NULL);
  INSERT INTO dns_sync.failovers SELECT ${currentTimeline}, '-infinity';
  CREATE TABLE dns_sync.reports (
    scope text PRIMARY KEY, number bigint NOT NULL, process text NOT NULL, pass text NOT NULL, body text NOT NULL)
    WITH (fillfactor = 50);
  CREATE TABLE dns_sync.requests (scope text PRIMARY KEY, run text NOT NULL)`;

/** The tables are those of a later program, which this one cannot use. */
export class NewerSchemaError extends UserError {
  override name = 'NewerSchemaError';
}

export const newerSchema = (place: string, version: number): NewerSchemaError =>
  new NewerSchemaError(
    `${place} is used by a newer version of this program (schema ${version}, this one knows ${schemaVersion}): use that version`,
  );

/** The database with its tables, which are made when it is asked for first. Throws `UserError`. */
export const withTables = (open: () => PostgresDatabase): (() => Promise<PostgresDatabase>) => {
  let made: Promise<void> | null = null;
  return async () => {
    const database = open();
    made ??= makeTables(database);
    await made.catch((error: unknown) => {
      made = null;
      throw error;
    });
    return database;
  };
};

export const makeTables = async (database: PostgresDatabase): Promise<void> => {
  await refuseOldProcesses(database);
  if (await hasTables(database)) return;
  await database.transaction(async (query) => {
    await lockTables(query, database);
    // Not by the name of a table: a connection goes by what it found before somebody else made it.
    const [made] = await query<{ isEmpty: boolean }>(madeSchema);
    // Whoever goes on in the middle of a restore would have forgotten everything.
    if (made?.isEmpty === true)
      throw new MemoryError(
        `${database.place} has a schema dns_sync without the tables of this program: wait for the end if it is being restored; else remove it with DROP SCHEMA dns_sync, and let this user create it (GRANT CREATE ON DATABASE)`,
      );
    if (made !== undefined) return;
    const [encoding] = await query<{ server_encoding: string }>('SHOW server_encoding');
    if (encoding?.server_encoding !== 'UTF8')
      throw new UserError(
        `${database.place} has the encoding ${encoding?.server_encoding}, which cannot store every name and text of DNS: create a database with ENCODING 'UTF8' TEMPLATE template0`,
      );
    await query(schema, [], patience);
  });
};

const madeSchema = `SELECT NOT EXISTS (SELECT FROM pg_catalog.pg_class
    WHERE relnamespace = n.oid AND relname = 'schema_version') AS "isEmpty"
  FROM pg_catalog.pg_namespace n WHERE nspname = 'dns_sync'`;

/** Whether anything was ever saved in it. Throws `UserError`. */
export const hasTables = async ({ query, place }: PostgresDatabase): Promise<boolean> => {
  const [row] = await query<{ version: number }>('SELECT version FROM dns_sync.schema_version').catch(
    noneIfMissing,
  );
  if (row === undefined) return false;
  if (row.version > schemaVersion) throw newerSchema(place, row.version);
  if (row.version < schemaVersion)
    throw new UserError(
      `${place} has the tables of a preview of 0.2 (schema ${row.version}), whose state this version does not read: stop all of its processes, wait ten minutes, and for unknownPause, remove them with DROP SCHEMA dns_sync CASCADE, and start again`,
    );
  return true;
};

/** Programs of 0.1 know nothing of these tables: both would write. */
const refuseOldProcesses = async ({ query, place }: PostgresDatabase): Promise<void> => {
  const [found] = await query<{ holder: string }>(
    'SELECT holder FROM dns_template_sync.leases WHERE lease_until > clock_timestamp() ORDER BY lease_until DESC',
  ).catch(noneIfMissing);
  if (found === undefined) return;
  throw new UserError(
    `${place} is in use by processes of version 0.1, whose state this version does not read: ${found.holder}. Stop all of them, wait ten minutes, and for unknownPause, and start again`,
  );
};

const noneIfMissing = (error: unknown): never[] => {
  if (isMissingTable(error)) return [];
  throw error;
};

/** Two that begin at once would make the same tables; the lock ends with the transaction. */
const lockTables = async (query: Query, database: PostgresDatabase): Promise<void> => {
  try {
    await query('SELECT pg_advisory_xact_lock($1)', [tablesLock], patience);
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
const tablesLock = 4_771_009_326;

/** Milliseconds. */
const patience = 10_000;
