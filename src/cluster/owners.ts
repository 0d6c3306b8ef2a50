import type { FleetOwners } from './membership.ts';
import type { FleetSummary } from '../status-page/facts.ts';
import { currentTimeline, isoTime, planned, type PostgresDatabase } from './database.ts';

/** That a process owns a client: of no other claim, before or after, are all of these the same. */
export interface Claim {
  /** The client: a digest of its base URL and name. */
  readonly scope: string;
  readonly process: string;
  readonly epoch: number;
}

export interface KnownClient {
  readonly scope: string;
  readonly baseUrl: string;
  readonly name: string;
}

/** The files that a process has for a client. */
export interface NotedFiles {
  readonly scope: string;
  /** The same for all that have the same files and mean the same by them; null: they are absent or unreadable. */
  readonly version: string | null;
  /** Of the checkout that they are in. */
  readonly commit: string | null;
}

/**
 * Why a process gives a client up. `wanted`: a command is to write for it; `moved`: other files are in use than it has;
 * `spare`: another process has fewer clients than its share.
 */
export interface Leaving {
  readonly scope: string;
  readonly why: 'wanted' | 'moved' | 'spare';
}

/** Adds clients that nobody knows yet. */
export const addClients = async (
  { query }: PostgresDatabase,
  clients: readonly KnownClient[],
): Promise<void> => {
  const column = (name: keyof KnownClient): string[] => sorted(clients).map((client) => client[name]);
  await query(sql.addClients, [column('scope'), column('baseUrl'), column('name')], longPatience);
};

/**
 * Notes the files that this process has. The files in use of a client, its head, become those of a process that leaves the
 * head for other ones, and of any where no living process has the head. A process leads a client if it has come to the
 * head, or has moved it: one that had the same files before they became the head, since somebody went back to them, does
 * not, until it has a commit in common with one that leads. `commits`: all that it has. Returns the clients whose head it
 * has then.
 */
export const noteFiles = async (
  { query, transaction }: PostgresDatabase,
  process: string,
  files: readonly NotedFiles[],
  commits: readonly string[],
): Promise<ReadonlySet<string>> => {
  const given = sorted(files);
  const scopes = given.map(scopeOf);
  await transaction(async (run) => {
    await run(sql.noteCommits, [process, commits]);
    // Whoever else moves a head of these, or comes to have it, is waited for, and then seen.
    await run(sql.lockClients, [scopes], longPatience);
    const versions = given.map(({ version }) => version);
    await run(sql.noteFiles, [process, scopes, versions], longPatience);
    await run(sql.leadByCommit, [process, scopes, given.map(({ commit }) => commit)], longPatience);
    await run(sql.replaceHeads, [process, scopes], longPatience);
  });
  return new Set((await query<Scoped>(sql.withHead, [process, scopes])).map(scopeOf));
};

/** This process has nothing to do with the client any more. */
export const forgetFiles = async (
  { query }: PostgresDatabase,
  process: string,
  scope: string,
): Promise<void> =>
  void (await query('DELETE FROM dns_sync.files WHERE process = $1 AND scope = $2', [process, scope]));

/** What was asked for of the clients of this process. */
export const requestsTo = ({ query }: PostgresDatabase, process: string): Promise<readonly AskedPass[]> =>
  query<AskedPass>(sql.requestsTo, [process]);

export const removeRequests = async (
  { query }: PostgresDatabase,
  requests: readonly AskedPass[],
): Promise<void> =>
  void (await query(sql.removeRequests, [requests.map(scopeOf), requests.map(({ run }) => run)]));

export interface AskedPass {
  readonly scope: string;
  /** The id that its pass is to have. */
  readonly run: string;
}

/** Asks the owners of these clients for a pass. Returns what is asked for: of a client that waits for one already, that. */
export const putRequests = (
  { query }: PostgresDatabase,
  requests: readonly AskedPass[],
): Promise<readonly AskedPass[]> => {
  const rows = sorted([...new Map(requests.map((one) => [one.scope, one])).values()]);
  return query<AskedPass>(sql.putRequests, [rows.map(scopeOf), rows.map(({ run }) => run)]);
};

/** What this process should give up, once lost heads are replaced; of those that are spare, `excess` at most. */
export const findLeaving = async (
  database: PostgresDatabase,
  process: string,
): Promise<{ readonly leaving: readonly Leaving[]; readonly excess: number }> => {
  const { query, transaction } = database;
  const lost = (await query<Scoped>(sql.lostHeads, [process], longPatience)).map(scopeOf);
  if (lost.length > 0)
    await transaction(async (run) => {
      await run(sql.lockClients, [lost], longPatience);
      await run(sql.replaceHeads, [process, lost], longPatience);
    });
  const rows = await query<Leaving & { readonly excess: number }>(sql.leaving, [process], longPatience);
  return { leaving: rows, excess: rows[0]?.excess ?? 0 };
};

/** A claim, and whether the last owner had not given it up. */
export interface Claimed extends Claim {
  readonly isTakenOver: boolean;
}

/**
 * Takes clients that nobody alive owns and whose head this process has: up to its share, and those that nobody has taken
 * for a third of a lease. `duration`: of a lease, in milliseconds.
 */
export const claimClients = async (
  { query }: PostgresDatabase,
  process: string,
  duration: number,
): Promise<{ readonly claimed: readonly Claimed[]; readonly left: number }> => {
  const rows = await query<Claimed & { readonly free: number }>(sql.claim, [process, duration], longPatience);
  // A row without a client says only how many are free.
  const claimed = rows.filter(({ scope }) => scope !== null);
  return { claimed, left: (rows[0]?.free ?? 0) - claimed.length };
};

/** Takes one client for a command; returns who has it where that is not possible yet, and makes known that it is wanted. */
export const claimForCommand = async (
  { query }: PostgresDatabase,
  process: string,
  scope: string,
): Promise<Claim | { readonly holder: string }> => {
  const [claimed] = await query<Claim>(sql.claimWanted, [process, scope], claimPatience);
  if (claimed) return claimed;
  const [other] = await query<{ holder: string | null }>(sql.want, [process, scope], claimPatience);
  return { holder: other?.holder ?? 'holder unknown' };
};

/** Gives clients up that this process owns or wants. Whoever may take them has to be told. */
export const releaseClients = async (
  { query }: PostgresDatabase,
  process: string,
  scopes: readonly string[],
): Promise<void> => void (await query(sql.release, [process, [...scopes].sort()], claimPatience));

/** The clients that are this process's in the eyes of all. */
export const ownedBy = async ({ query }: PostgresDatabase, process: string): Promise<readonly string[]> =>
  (await query<Scoped>('SELECT scope FROM dns_sync.clients WHERE owner = $1', [process])).map(scopeOf);

/**
 * A part of a statement: the client of `$1` if the process `$2` owns it by the claim of epoch `$3`. Whoever takes it over
 * changes its row, so it comes before this, and then the row is not found any more; or it waits for the end of our
 * transaction, and then sees all that this has written. `FOR KEY SHARE` would not wait, nor be waited for.
 */
export const heldClaim = `client.scope FROM dns_sync.clients AS client
  WHERE client.scope = $1 AND client.owner = $2 AND client.epoch = $3::bigint AND client.timeline = ${currentTimeline}
  FOR SHARE OF client`;

/** The daemons that are alive, the oldest first, and every client that was ever known, by name. */
export const ownersIn = async ({ query }: PostgresDatabase): Promise<FleetOwners> => ({
  processes: await query(sql.processes),
  clients: await query(sql.owners),
});

/** What this process shows of the fleet: `unowned`: up to ten of its clients that nobody has owned for so many milliseconds. */
export const summaryFor = async (
  { query }: PostgresDatabase,
  process: string,
  duration: number,
): Promise<FleetSummary> => {
  const unowned = await query<{ name: string }>(sql.unowned, [process, duration]);
  return {
    processes: await query(sql.processes),
    unowned: unowned.map(({ name }) => name),
  };
};

interface Scoped {
  readonly scope: string;
}

const scopeOf = ({ scope }: Scoped): string => scope;

/** In one order, so that nobody waits for somebody who waits for them. */
const sorted = <Row extends Scoped>(rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((one, other) => (one.scope < other.scope ? -1 : 1));

/** Milliseconds: of thousands of clients. */
const longPatience = 30_000;
/** A process that is stopped in the middle of a transaction may keep its client for five seconds. */
const claimPatience = 8_000;

const live = 'alive_until > clock_timestamp()';

/** Whether the process `$1` is alive, and on the timeline of the database. */
const isAlive = `EXISTS (SELECT FROM dns_sync.processes WHERE id = $1 AND ${live} AND timeline = ${currentTimeline})`;

/**
 * Shares count, a client, only living processes that have its head and have renewed once: one that dies again and again
 * attracts nothing.
 */
const shares = `live AS MATERIALIZED (SELECT id FROM dns_sync.processes WHERE is_daemon AND renewals > 0 AND ${live}),
  ready AS MATERIALIZED (SELECT f.scope, f.process, count(*) OVER (PARTITION BY f.scope) AS processes
    FROM dns_sync.files f JOIN live ON live.id = f.process
      JOIN dns_sync.clients c ON c.scope = f.scope AND f.version IS NOT DISTINCT FROM c.head),
  share AS MATERIALIZED (SELECT process, ceil(round(sum(1.0 / processes), 6)) AS share FROM ready GROUP BY process),
  owned AS MATERIALIZED (SELECT owner AS process, count(*) AS owned FROM dns_sync.clients
    WHERE owner IN (SELECT id FROM live) GROUP BY owner)`;

const isWanted = `EXISTS (SELECT FROM dns_sync.processes w WHERE w.id = c.wanted_by AND w.${live})`;

const hasHead = `EXISTS (SELECT FROM dns_sync.files g JOIN dns_sync.processes p ON p.id = g.process AND p.${live}
  WHERE g.scope = c.scope AND g.version`;

/** Whether no living process has the head of `c`, for which `own` has other files. */
const isLost = `own.version IS DISTINCT FROM c.head AND NOT ${hasHead} = c.head)
  AND (own.version IS NOT NULL OR NOT ${hasHead} IS NOT NULL))`;

const sql = {
  addClients: `INSERT INTO dns_sync.clients (scope, base_url, name)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) ON CONFLICT (scope) DO NOTHING`,
  noteCommits: 'UPDATE dns_sync.processes SET commits = $2 WHERE id = $1 AND commits <> $2::text[]',
  lockClients: 'SELECT FROM dns_sync.clients WHERE scope = ANY ($1::text[]) ORDER BY scope FOR NO KEY UPDATE',
  noteFiles: `WITH given AS (SELECT * FROM unnest($2::text[], $3::text[]) AS given (scope, version)),
      moved AS (UPDATE dns_sync.clients c SET head = given.version FROM given JOIN dns_sync.files f USING (scope)
        WHERE c.scope = given.scope AND f.process = $1 AND f.leads AND given.version IS NOT NULL
          AND c.head IS DISTINCT FROM given.version RETURNING c.scope),
      left_behind AS (UPDATE dns_sync.files f SET leads = false FROM moved
        WHERE f.scope = moved.scope AND f.process <> $1 AND f.leads)
    INSERT INTO dns_sync.files (process, scope, version, leads)
      SELECT $1, given.scope, given.version,
        coalesce(given.version = c.head, false) OR given.scope IN (SELECT scope FROM moved)
      FROM given JOIN dns_sync.clients c USING (scope)
    ON CONFLICT (process, scope) DO UPDATE SET version = excluded.version,
      leads = excluded.leads AND (files.leads OR files.version IS DISTINCT FROM excluded.version)`,
  leadByCommit: `UPDATE dns_sync.files f SET leads = true
    FROM dns_sync.clients c, unnest($2::text[], $3::text[]) AS given (scope, commit)
    WHERE f.process = $1 AND f.scope = given.scope AND c.scope = f.scope AND NOT f.leads AND f.version = c.head
      AND EXISTS (SELECT FROM dns_sync.files g JOIN dns_sync.processes p ON p.id = g.process
        WHERE g.scope = f.scope AND g.leads AND given.commit = ANY (p.commits))`,
  lostHeads: `SELECT c.scope FROM dns_sync.clients c, dns_sync.files own
    WHERE own.process = $1 AND own.scope = c.scope AND ${isLost} AND ${isAlive}`,
  replaceHeads: `WITH replaced AS (UPDATE dns_sync.clients c SET head = own.version FROM dns_sync.files own
      WHERE own.process = $1 AND own.scope = c.scope AND own.scope = ANY ($2::text[]) AND ${isLost} AND ${isAlive}
      RETURNING c.scope, c.head)
    UPDATE dns_sync.files f SET leads = f.version = replaced.head FROM replaced
    WHERE f.scope = replaced.scope AND replaced.head IS NOT NULL AND f.version IS NOT NULL
      AND f.leads <> (f.version = replaced.head)`,
  withHead: `SELECT c.scope FROM dns_sync.clients c JOIN dns_sync.files f ON f.process = $1 AND f.scope = c.scope
    WHERE c.scope = ANY ($2::text[]) AND f.version IS NOT DISTINCT FROM c.head`,
  requestsTo: `SELECT r.scope, r.run FROM dns_sync.requests r JOIN dns_sync.clients c USING (scope) WHERE c.owner = $1`,
  removeRequests: `DELETE FROM dns_sync.requests r USING unnest($1::text[], $2::text[]) AS taken (scope, run)
    WHERE r.scope = taken.scope AND r.run = taken.run`,
  putRequests: `INSERT INTO dns_sync.requests AS asked (scope, run) SELECT * FROM unnest($1::text[], $2::text[])
    ON CONFLICT (scope) DO UPDATE SET run = asked.run RETURNING scope, run`,
  unowned: `SELECT c.name FROM dns_sync.clients c JOIN dns_sync.files f ON f.process = $1 AND f.scope = c.scope
      LEFT JOIN dns_sync.processes o ON o.id = c.owner
    WHERE (o.id IS NULL OR o.alive_until < clock_timestamp()) AND coalesce(o.alive_until, c.free_since)
      < clock_timestamp() - $2 * interval '1 millisecond' AND NOT ${isWanted} ORDER BY c.name LIMIT 10`,
  leaving: planned(`WITH ${shares},
      own AS (SELECT coalesce((SELECT owned FROM owned WHERE process = $1), 0)
        - coalesce((SELECT share FROM share WHERE process = $1), 0) AS excess),
      lacking AS (SELECT process FROM share LEFT JOIN owned USING (process) WHERE coalesce(owned, 0) < share),
      found AS (SELECT c.scope, CASE WHEN ${isWanted} THEN 'wanted'
          WHEN f.version IS DISTINCT FROM c.head THEN 'moved'
          WHEN own.excess > 0 AND EXISTS (SELECT FROM ready JOIN lacking USING (process)
            WHERE ready.scope = c.scope AND ready.process <> $1) THEN 'spare' END AS why, own.excess
        FROM dns_sync.clients c CROSS JOIN own LEFT JOIN dns_sync.files f ON f.process = $1 AND f.scope = c.scope
        WHERE c.owner = $1)
    SELECT scope, why, excess::int FROM found WHERE why IS NOT NULL`),
  claim: planned(`WITH ${shares},
      own AS (SELECT coalesce((SELECT share FROM share WHERE process = $1), 0)
        - coalesce((SELECT owned FROM owned WHERE process = $1), 0) AS room),
      free AS MATERIALIZED (SELECT c.scope, c.owner, c.epoch,
          CASE WHEN c.owner IS NULL THEN c.free_since ELSE coalesce(o.alive_until, '-infinity') END AS since,
          row_number() OVER (ORDER BY md5(c.scope || $1)) AS position,
          EXISTS (SELECT FROM ready WHERE ready.scope = c.scope AND ready.process <> $1) AS has_others
        FROM dns_sync.clients c JOIN dns_sync.files f ON f.process = $1 AND f.scope = c.scope
          AND f.version IS NOT DISTINCT FROM c.head LEFT JOIN dns_sync.processes o ON o.id = c.owner
        WHERE (o.id IS NULL OR o.alive_until < clock_timestamp()) AND NOT ${isWanted} AND ${isAlive}),
      locked AS (SELECT c.scope, c.owner IS NOT NULL AS is_taken_over
        FROM dns_sync.clients c JOIN free ON free.scope = c.scope CROSS JOIN own
        WHERE c.owner IS NOT DISTINCT FROM free.owner AND c.epoch = free.epoch
          AND (free.position <= own.room OR NOT free.has_others
            OR free.since + $2 / 3.0 * interval '1 millisecond' < clock_timestamp())
        FOR NO KEY UPDATE OF c SKIP LOCKED),
      claimed AS (UPDATE dns_sync.clients c SET owner = $1, epoch = c.epoch + 1, claimed_at = clock_timestamp(),
        timeline = ${currentTimeline} FROM locked WHERE c.scope = locked.scope RETURNING c.scope, c.owner AS process, c.epoch::float8, locked.is_taken_over AS "isTakenOver")
    SELECT claimed.*, counted.free FROM (SELECT count(*)::int AS free FROM free) counted LEFT JOIN claimed ON true
    WHERE claimed.scope IS NOT NULL OR counted.free > 0`),
  claimWanted: `UPDATE dns_sync.clients c
      SET owner = $1, epoch = c.epoch + 1, claimed_at = clock_timestamp(), timeline = ${currentTimeline}, wanted_by = $1
    WHERE scope = $2 AND (c.wanted_by = $1 OR NOT ${isWanted}) AND ${isAlive}
      AND NOT EXISTS (SELECT FROM dns_sync.processes o WHERE o.id = c.owner AND o.${live}) RETURNING scope, owner AS process, epoch::float8`,
  want: `WITH wanting AS (UPDATE dns_sync.clients c SET wanted_by = $1
      WHERE scope = $2 AND (c.wanted_by = $1 OR NOT ${isWanted}) AND ${isAlive})
    SELECT o.place AS holder FROM dns_sync.clients c LEFT JOIN dns_sync.processes o ON o.id = c.owner WHERE scope = $2`,
  release: `UPDATE dns_sync.clients c SET owner = CASE WHEN owner = $1 THEN NULL ELSE owner END,
      free_since = CASE WHEN owner = $1 THEN clock_timestamp() ELSE free_since END,
      wanted_by = CASE WHEN wanted_by = $1 THEN NULL ELSE wanted_by END
    WHERE scope = ANY ($2::text[]) AND (owner = $1 OR wanted_by = $1)`,
  owners: `SELECT c.name AS client, c.base_url AS "baseUrl", o.place AS owner, c.epoch::float8,
      ${hasHead} IS NOT NULL) AS "hasFiles"
    FROM dns_sync.clients c LEFT JOIN dns_sync.processes o ON o.id = c.owner AND o.${live} ORDER BY c.name, c.scope`,
  processes: `SELECT id, place, address, version, ${isoTime('since')} AS since, ${isoTime('alive_until')} AS "aliveUntil",
      (SELECT count(*)::int FROM dns_sync.clients WHERE owner = id) AS clients
    FROM dns_sync.processes WHERE is_daemon AND ${live} ORDER BY processes.since, id`,
} as const;
