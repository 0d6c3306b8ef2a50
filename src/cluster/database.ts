import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import type Pg from 'pg';
import { messageOf } from '../errors.ts';
import { MemoryError } from '../state/memory.ts';
import type { Dialect, Query } from '../state/tables.ts';

export const dialect: Dialect = {
  schema: 'dns_sync.',
  id: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  keyed: '',
  revision: "nextval('dns_sync.revisions')",
  text: (expression) => expression,
  each: (parameter) => `json_array_elements(${parameter}::json)`,
  object: (key, value) => `coalesce(json_object_agg(${key}, ${value}), '{}')::text`,
  mostWrites: null,
};

/** A PostgreSQL database, over a few connections. */
export interface PostgresDatabase {
  /** By itself: what it changed is on disk, and on synchronous standbys, when its promise resolves. */
  readonly query: Query;
  /** All of it or nothing; what the task throws passes through. */
  readonly transaction: <T>(task: (query: Query) => Promise<T>) => Promise<T>;
  /** `postgres://…`, as it is now. */
  readonly url: () => string;
  /** Where it is, without anything secret. */
  readonly place: string;
  close(): Promise<void>;
}

/** Nothing is connected before the first statement. Where that fails, the address is read again: its password may be new. */
export const openDatabase = (url: () => string, mostConnections = 10): PostgresDatabase => {
  const place = placeIn(url());
  const pool = new (loadPg().Pool)({
    ...connectionOptions,
    connectionString: url(),
    max: mostConnections,
    allowExitOnIdle: true,
    // oxlint-disable-next-line typescript/no-misused-promises -- it is waited for
    onConnect: async (client) => {
      await client.query(sessionSettings);
      const { rows } = await client.query<Session>(ownSession);
      sessions.set(client, rows[0]!);
      for (const left of abandoned.splice(0)) await client.query(endSession, [left.pid, left.since]);
    },
  });
  const sessions = new WeakMap<object, Session>();
  /** Left in the middle of a statement, which may go on, and keep its place in the server, for as long as a standby is away. */
  const abandoned: Session[] = [];
  // Of a connection that breaks while nobody uses it, the next statement hears nothing: there is another one.
  pool.on('error', () => undefined);

  const connect = async (): Promise<Pg.PoolClient> => {
    try {
      return await pool.connect();
    } catch (error) {
      const newest = url();
      if (newest === pool.options.connectionString) throw error;
      pool.options.connectionString = newest;
      return pool.connect();
    }
  };
  const use = async <T>(task: (client: Pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await connect().catch((error: unknown) => {
      throw unusable(place, error);
    });
    // If a connection breaks between two statements, the second one reports it.
    const ignore = (): void => undefined;
    client.on('error', ignore);
    let isSound = false;
    try {
      const result = await task(client);
      isSound = true;
      return result;
    } finally {
      client.off('error', ignore);
      // One that did not answer in time would never answer anybody again.
      client.release(!isSound);
      const session = sessions.get(client);
      if (!isSound && session !== undefined) abandoned.push(session);
    }
  };
  return {
    place,
    url,
    query: (sql, values, patience) => use((client) => queryOn(client, place)(sql, values, patience)),
    transaction: (task) =>
      use(async (client) => {
        const query = queryOn(client, place);
        await query('BEGIN');
        // Where the task fails its connection is closed, which rolls back.
        const result = await task(query);
        await query('COMMIT');
        return result;
      }),
    close: () => pool.end(),
  };
};

/** A process of the server. */
interface Session {
  readonly pid: number;
  readonly since: string;
}

const ownSession =
  'SELECT pid, backend_start::text AS since FROM pg_stat_activity WHERE pid = pg_backend_pid()';

/** Its transaction is committed or rolled back by then, and nobody counts on either. */
const endSession = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = $1 AND backend_start = $2::timestamptz`;

/** Milliseconds. */
const connectPatience = 2_000;
const attemptPatience = 1_500;

/** Of each connection. */
export const connectionOptions = {
  application_name: 'dns-template-sync',
  connectionTimeoutMillis: connectPatience,
  keepAlive: true,
  /** Node itself gives up each address of a host after 250 ms. */
  stream: (): Socket => {
    const socket = new Socket();
    const connect = socket.connect.bind(socket);
    return Object.assign(socket, {
      connect: (place: string, host?: string) =>
        host === undefined
          ? connect(place)
          : connect({ port: Number(place), host, autoSelectFamilyAttemptTimeout: attemptPatience }),
    });
  },
};

/**
 * What is committed is on disk whatever the database has as its default; fences rest on what READ COMMITTED does; and
 * a process that is stopped in the middle of a transaction keeps nobody waiting for long. Statements are too short for
 * compiling them to be worth it.
 */
const sessionSettings = `
  SET synchronous_commit = on;
  SET jit = off;
  SET default_transaction_isolation = 'read committed';
  SET idle_in_transaction_session_timeout = '5s'`;

/**
 * Of the database: another one since a standby took over (the timeline of its write-ahead log) or a dump was restored (the
 * identity of server, database or table). Then what was acknowledged last may be forgotten, and a row may look as it did before.
 */
export const currentTimeline = `(SELECT concat_ws(' ', system_identifier,
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), pg_relation_filenode('dns_sync.clients'),
  (SELECT oid FROM pg_database WHERE datname = current_database())) FROM pg_control_system())`;

/** Milliseconds since the epoch. */
export const milliseconds = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::float8`;

/** ISO 8601. */
export const isoTime = (time: string): string =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A statement of every pass: each connection plans it once. */
export const planned = (sql: string): string => {
  names.set(sql, `dns_template_sync_${names.size}`);
  return sql;
};

const names = new Map<string, string>();

/** Milliseconds. */
const usualPatience = 10_000;

const queryOn =
  (client: Pg.PoolClient, place: string): Query =>
  async <Row>(sql: string, values: readonly unknown[] = [], patience = usualPatience) => {
    let warning: string | null = null;
    const onNotice = ({
      code,
      message,
    }: {
      code?: string | undefined;
      message?: string | undefined;
    }): void => {
      if (code !== undefined && endedWaits.has(code)) warning = message ?? code;
    };
    client.on('notice', onNotice);
    try {
      const name = names.get(sql);
      const statement = { text: sql, values: [...values], query_timeout: patience, ...(name && { name }) };
      const { rows } = await client.query(statement);
      // It says that it committed, and a standby that takes over may never have heard of it.
      if (warning !== null) throw new Error(warning);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that the statement names
      return rows as readonly Row[];
    } catch (error) {
      throw unusable(place, error);
    } finally {
      client.off('notice', onNotice);
    }
  };

/** The wait for a synchronous standby was cancelled: query_canceled, admin_shutdown. */
const endedWaits: ReadonlySet<string> = new Set(['57014', '57P01']);

const unusable = (place: string, error: unknown): MemoryError =>
  new MemoryError(
    `the state in ${place} cannot be used, and nothing is written to the service without it: ${wordsOf(error)}; ${adviceOn(error)}`,
    { cause: error },
  );

/** An error for each of the addresses that were tried. */
const wordsOf = (error: unknown): string =>
  error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : messageOf(error);

/** Whether what a statement threw says that the tables are not there. */
export const isMissingTable = (error: unknown): boolean =>
  error instanceof MemoryError && missingTables.has(codeOf(error.cause));

const missingTables: ReadonlySet<string> = new Set(['42P01', '3F000']);

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

const adviceOn = (error: unknown): string => {
  const code = codeOf(error);
  if (missingTables.has(code))
    return 'run or apply creates the schema dns_sync as it starts if there is none (if there was one, restore its dump, or wait ten minutes, and for unknownPause, before you start them again); one that lacks tables needs the rest of its dump';
  if (code === '42501')
    return 'check the permissions of this user, who makes the tables in a schema of their own';
  // The second one to those who only read: the place in its log is asked for.
  if (code === '25006' || code === '55000')
    return 'this is a standby, which accepts no writes: set store to the primary; or default_transaction_read_only is on';
  if (code === '53300')
    return 'let max_connections, and the limits of this user and database, be above storeConnections of all processes together';
  if (endedByOthers.has(code))
    return 'somebody or a timeout has ended it: check statement_timeout, lock_timeout and idle_session_timeout of this user and database';
  if (code === '40P01')
    return 'nothing of it was saved, and the next pass tries it again; if it comes often, the log of PostgreSQL says who else locks these tables';
  if (code.startsWith('28')) return 'check user and password in store';
  // Whoever says what it lacks runs, and at this address: disk_full, out_of_memory, io_error, internal_error.
  if (/^(?:53|58|XX)/.test(code)) return 'mend that in PostgreSQL; the address in store is right';
  return 'check that PostgreSQL runs, and the address in store';
};

/** query_canceled, lock_not_available, idle_session_timeout. */
const endedByOthers: ReadonlySet<string> = new Set(['57014', '55P03', '57P05']);

const placeIn = (url: string): string => {
  if (!URL.canParse(url)) return 'PostgreSQL';
  const { hostname, port, pathname } = new URL(url);
  return `PostgreSQL at ${hostname || 'its socket'}${port && `:${port}`}${pathname}`;
};

/** Whoever keeps memory in a file does without it. The build puts it beside the program. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the package exports
export const loadPg = (): typeof Pg => createRequire(import.meta.url)('pg') as typeof Pg;
