import { UserError } from '../../errors.ts';
import { isMissingTable, type PostgresDatabase, type Query } from './database.ts';
import { currentTimeline, walTimeline } from './fence.ts';

/**
 * Each brings the schema from the version of its index to the next. Never change one that was released. Bodies are
 * JSON as text: `jsonb` refuses what a service may well put into a record.
 */
const migrations: readonly string[] = [
  `CREATE TABLE dns_template_sync.clients (scope text PRIMARY KEY, body text NOT NULL);
   CREATE TABLE dns_template_sync.tokens (digest text PRIMARY KEY, scope text NOT NULL);
   CREATE TABLE dns_template_sync.client_templates (
     scope text NOT NULL, template_id bigint NOT NULL, PRIMARY KEY (scope, template_id));
   CREATE TABLE dns_template_sync.templates (
     scope text NOT NULL, template_id bigint NOT NULL, revision bigint NOT NULL, body text NOT NULL,
     PRIMARY KEY (scope, template_id));
   CREATE TABLE dns_template_sync.records (
     scope text NOT NULL, template_id bigint NOT NULL, key text NOT NULL, body text NOT NULL,
     PRIMARY KEY (scope, template_id, key));
   CREATE TABLE dns_template_sync.intents (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, scope text NOT NULL, template_id bigint NOT NULL,
     body text NOT NULL);
   CREATE INDEX intents_of_client ON dns_template_sync.intents (scope, template_id);
   CREATE TABLE dns_template_sync.history (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, scope text NOT NULL, at bigint NOT NULL, body text NOT NULL);
   CREATE INDEX history_by_time ON dns_template_sync.history (scope, at, id);
   CREATE INDEX history_by_id ON dns_template_sync.history (scope, id);
   CREATE SEQUENCE dns_template_sync.revisions;
   CREATE VIEW dns_template_sync.known_templates AS
     SELECT scope, template_id FROM dns_template_sync.client_templates
     UNION SELECT scope, template_id FROM dns_template_sync.templates
     UNION SELECT scope, template_id FROM dns_template_sync.intents;
   CREATE TABLE dns_template_sync.leases (
     name text PRIMARY KEY, epoch bigint NOT NULL, token text NOT NULL, holder text NOT NULL,
     lease_until timestamptz NOT NULL, timeline text NOT NULL);
   CREATE TABLE dns_template_sync.failovers (timeline text NOT NULL, since timestamptz NOT NULL);
   INSERT INTO dns_template_sync.failovers SELECT ${currentTimeline}, '-infinity';
   CREATE INDEX client_templates_by_id ON dns_template_sync.client_templates (template_id);
   CREATE INDEX templates_by_id ON dns_template_sync.templates (template_id);`,
  `CREATE TABLE dns_template_sync.servers (name text PRIMARY KEY, retry_at timestamptz NOT NULL);
   CREATE TABLE dns_template_sync.replicas (
     id text PRIMARY KEY, role text NOT NULL, place text NOT NULL, version text NOT NULL,
     since timestamptz NOT NULL, alive_until timestamptz NOT NULL);
   CREATE SEQUENCE dns_template_sync.report_numbers;
   CREATE TABLE dns_template_sync.reports (
     client text PRIMARY KEY, number bigint NOT NULL, replica text NOT NULL, body text NOT NULL);
   CREATE INDEX reports_by_number ON dns_template_sync.reports (number);`,
  `CREATE TABLE dns_template_sync.blobs (hash text PRIMARY KEY, content bytea NOT NULL);
   CREATE TABLE dns_template_sync.snapshots (
     client text NOT NULL, number bigint NOT NULL, digest text NOT NULL, revision text, uncommitted text NOT NULL,
     published_at timestamptz NOT NULL, doubted_at timestamptz, PRIMARY KEY (client, number));
   CREATE INDEX snapshots_doubted ON dns_template_sync.snapshots (client) WHERE doubted_at IS NOT NULL;
   CREATE INDEX snapshots_by_digest ON dns_template_sync.snapshots (client, digest);
   CREATE TABLE dns_template_sync.snapshot_files (
     client text NOT NULL, number bigint NOT NULL, position bigint NOT NULL,
     hash text REFERENCES dns_template_sync.blobs, body text NOT NULL, PRIMARY KEY (client, number, position));
   CREATE INDEX snapshot_files_by_hash ON dns_template_sync.snapshot_files (hash);`,
  `CREATE TABLE dns_template_sync.notified (
     receiver text NOT NULL, client text NOT NULL, template text NOT NULL, due_at bigint, delivery text,
     body text NOT NULL, PRIMARY KEY (receiver, client, template));
   CREATE INDEX notified_due ON dns_template_sync.notified (receiver, due_at) WHERE due_at IS NOT NULL;
   CREATE INDEX notified_begun ON dns_template_sync.notified (receiver, delivery) WHERE delivery IS NOT NULL;`,
  `CREATE TABLE dns_template_sync.used (
     kind text NOT NULL, name text NOT NULL, used_on date NOT NULL, PRIMARY KEY (kind, name));
   INSERT INTO dns_template_sync.used
     SELECT 'client', client, current_date FROM dns_template_sync.reports
     UNION SELECT 'files', client, current_date FROM dns_template_sync.snapshots
     UNION SELECT 'receiver', receiver, current_date FROM dns_template_sync.notified;
   ALTER TABLE dns_template_sync.schema_version ADD COLUMN oldest integer NOT NULL DEFAULT 0;
   ALTER TABLE dns_template_sync.snapshots ADD COLUMN timeline text NOT NULL DEFAULT '';
   ALTER TABLE dns_template_sync.snapshots ADD COLUMN is_passed boolean NOT NULL DEFAULT true;
   CREATE INDEX snapshots_unpassed ON dns_template_sync.snapshots (published_at) WHERE NOT is_passed;
   UPDATE dns_template_sync.snapshots SET timeline = ${currentTimeline};
   UPDATE dns_template_sync.failovers SET timeline = ${currentTimeline} WHERE timeline = ${walTimeline};
   UPDATE dns_template_sync.leases SET timeline = ${currentTimeline} WHERE timeline = ${walTimeline};`,
  `CREATE TABLE dns_template_sync.suspensions (
     scope text NOT NULL, key text NOT NULL, body text NOT NULL, PRIMARY KEY (scope, key));`,
  // Rows that each pass changes leave room for that beside them, so that their indexes stay as they are.
  `CREATE TABLE dns_template_sync.repeated_passes (
     client text PRIMARY KEY, number bigint NOT NULL, replica text NOT NULL, report bigint NOT NULL, pass text NOT NULL)
     WITH (fillfactor = 50);
   ALTER TABLE dns_template_sync.reports ADD COLUMN digest text;
   ALTER TABLE dns_template_sync.leases SET (fillfactor = 50);`,
  // What programs of 0.1 remember of records and open writes has another form: only history and suspensions are taken over.
  `ALTER TABLE dns_template_sync.intents RENAME TO journal;
   TRUNCATE dns_template_sync.templates, dns_template_sync.records, dns_template_sync.journal;`,
  // State belongs to base URL and client name, no more to a token: of what was saved before, only suspensions are kept.
  `WITH moved AS (DELETE FROM dns_template_sync.suspensions s USING dns_template_sync.clients c
     WHERE s.scope = c.scope RETURNING c.body::json AS client, s.key, s.body)
   INSERT INTO dns_template_sync.suspensions SELECT DISTINCT ON (1, 2) substr(encode(sha256(convert_to(
     concat(client->>'baseUrl', chr(10), client->>'name'), 'UTF8')), 'hex'), 1, 32), key, body FROM moved;
   DROP VIEW dns_template_sync.known_templates;
   DROP TABLE dns_template_sync.tokens, dns_template_sync.client_templates, dns_template_sync.clients;
   TRUNCATE dns_template_sync.templates, dns_template_sync.records, dns_template_sync.journal,
     dns_template_sync.history, dns_template_sync.snapshots, dns_template_sync.snapshot_files, dns_template_sync.blobs;
   CREATE TABLE dns_template_sync.clients (
     scope text PRIMARY KEY, base_url text, name text NOT NULL, token text NOT NULL);
   CREATE TABLE dns_template_sync.compared (
     base_url text NOT NULL, template_id bigint NOT NULL, scope text NOT NULL, at timestamptz NOT NULL,
     PRIMARY KEY (base_url, template_id));
   CREATE INDEX compared_by_client ON dns_template_sync.compared (scope);`,
];

/**
 * The oldest programs, by the version they know, that can use these tables too. A migration that takes something away
 * raises it, and comes in a release after the one that uses it no more: until all processes run that one, old and new ones
 * work side by side.
 */
const oldestProgram = 9;

/** From the first suspension on, programs that know of none may not write: they would not obey it. */
export const requireSuspensions = async (query: Query): Promise<void> => {
  await query('UPDATE dns_template_sync.schema_version SET oldest = greatest(oldest, $1)', [
    firstWithSuspensions,
  ]);
};

const firstWithSuspensions = 6;

/** The tables are those of a later program, which this one cannot use. */
export class NewerSchemaError extends UserError {
  override name = 'NewerSchemaError';
}

/** Before and after. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** Makes the tables, or brings them up to date; does nothing where they are. Throws `UserError`. */
export const migrate = async (database: PostgresDatabase): Promise<Migrated> => {
  const found = await usableVersion(database);
  if (found !== null) return { from: found, to: found };
  return database.transaction(async (query) => {
    // Two that begin at once would make the same tables; the lock ends with the transaction.
    await query('SELECT pg_advisory_xact_lock($1)', [migrationLock], migrationPatience);
    const from = await versionIn(query);
    if (from === 0) await begin(query, database.place);
    else if (from < firstByName) await requireNobody(query, database.place);
    for (const migration of migrations.slice(from)) await query(migration, [], migrationPatience);
    await query('UPDATE dns_template_sync.schema_version SET version = $1, oldest = greatest(oldest, $2)', [
      migrations.length,
      oldestProgram,
    ]);
    return { from, to: migrations.length };
  });
};

/** Before, state belonged to tokens. */
const firstByName = 9;

/** What processes of version 0.1 have sent would be forgotten while they run. */
const requireNobody = async (query: Query, place: string): Promise<void> => {
  const [held] = await query<{ holder: string }>(
    'SELECT holder FROM dns_template_sync.leases WHERE lease_until > clock_timestamp() ORDER BY lease_until DESC LIMIT 1',
  );
  if (held)
    throw new UserError(
      `${place} is used by version 0.1 of this program (${held.holder}): stop it first, on every machine; of its state only what is suspended is taken over`,
    );
};

/** By one statement: each pass asks. Null where a migration is due. */
const usableVersion = async ({ query, place }: PostgresDatabase): Promise<number | null> => {
  try {
    const rows = await query<{ schema: SchemaVersion }>(
      'SELECT to_json(found) AS schema FROM dns_template_sync.schema_version AS found',
    );
    const { version = 0, oldest = version } = rows[0]?.schema ?? {};
    if (version < migrations.length) return null;
    if (version > migrations.length && oldest > migrations.length)
      throw new NewerSchemaError(
        `${place} was written by a newer version of this program (schema ${version}, this one knows ${migrations.length}): use that version`,
      );
    return version;
  } catch (error) {
    if (isMissingTable(error)) return null;
    throw error;
  }
};

interface SchemaVersion {
  readonly version: number;
  /** Absent in the first versions. */
  readonly oldest?: number;
}

/** The database with its tables, which are made when it is asked for first. */
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

/** 0 where there is nothing yet. */
export const versionIn = async (query: Query): Promise<number> => {
  // Not by to_regclass: it goes by what this connection found before somebody else made the tables.
  const tables = await query(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'dns_template_sync' AND tablename = 'schema_version'",
  );
  if (tables.length === 0) return 0;
  const [row] = await query<{ version: number }>('SELECT version FROM dns_template_sync.schema_version');
  return row?.version ?? 0;
};

const begin = async (query: Query, place: string): Promise<void> => {
  const [encoding] = await query<{ server_encoding: string }>('SHOW server_encoding');
  if (encoding?.server_encoding !== 'UTF8')
    throw new UserError(
      `${place} has the encoding ${encoding?.server_encoding}, which cannot store every name and text of DNS: create a database with ENCODING 'UTF8' TEMPLATE template0`,
    );
  await query('CREATE SCHEMA IF NOT EXISTS dns_template_sync');
  await query('CREATE TABLE dns_template_sync.schema_version (version integer NOT NULL)');
  await query('INSERT INTO dns_template_sync.schema_version VALUES (0)');
};

/** Any number that no other program is likely to have taken. */
const migrationLock = 4_771_009_325;

/** Milliseconds: somebody else may be at it, and there may be much to bring up to date. */
const migrationPatience = 600_000;
