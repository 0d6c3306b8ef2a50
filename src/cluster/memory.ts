import { isInEffect, type Suspension } from '../model/suspension.ts';
import { bodyIn, clientMemory, compare, entryIn, noteClient } from '../state/client-memory.ts';
import type { ClientMemory, Entry } from '../state/memory.ts';
import type { StoreLocation } from '../state/store-location.ts';
import { statementsIn, type Rows } from '../state/tables.ts';
import {
  currentTimeline,
  dialect,
  isoTime,
  milliseconds,
  planned,
  type PostgresDatabase,
  type Query,
} from './database.ts';
import { takenOver, type WriteDeadline } from './lease.ts';
import { heldClaim, type Claim } from './owners.ts';

export interface PostgresMemory extends ClientMemory {
  /** What a pass begins with, read again. */
  open(): Promise<Opening>;
  /** Notes who has this state. Returns the name of the client whose state it took over; null if there was none. */
  note(): Promise<string | null>;
  /** Readings from before a failover count no more. */
  forgetReadings(): Promise<void>;
}

/** What a pass needs to know of its client and of the database before it compares anything. */
export type Opening = Awaited<ReturnType<typeof readOpening>>;

/**
 * The memory of one client in PostgreSQL. A write is on disk when its promise resolves; it rejects with `MemoryError` where
 * the client is not ours any more, or the database does not take it. Without a claim it can only be read. `scope`: whose
 * state, the client's own or that of its earlier name.
 */
export const openPostgresMemory = (
  database: PostgresDatabase,
  location: StoreLocation,
  claim: Claim | null,
  { scope = location.scope, deadline }: { readonly scope?: string; readonly deadline?: WriteDeadline } = {},
): PostgresMemory => {
  const { query } = database;
  /** While it is ours nobody else changes it: what was read holds until this process writes. */
  let opened: Promise<Opening> | null = null;
  let latest: Opening | null = null;
  const opening = (): Promise<Opening> =>
    (opened ??= readOpening(query, { ...location, scope }, claim).then((found) => (latest = found)));
  /** What the pass began with, for the first who asks. */
  let suspensions: Opening['suspensions'] | null = null;
  const changing = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await task();
    } finally {
      opened = suspensions = null;
    }
  };
  const owned = (): Claim => {
    if (claim === null) throw takenOver();
    return claim;
  };
  const rows: Rows = {
    ...rowsOf(database),
    change: (task) =>
      changing(() =>
        database.transaction(async (run) => {
          if (claim !== null) {
            const { process, epoch } = claim;
            const held = await run(`SELECT ${heldClaim}`, [claim.scope, process, epoch]);
            if (held.length === 0) throw takenOver();
          }
          return task(run);
        }),
      ),
    now: async () => (latest ?? (await opening())).now(),
    life: () => `${database.place} ${latest?.timeline}`,
  };
  const memory = clientMemory(rows, location, scope);

  return {
    ...memory,
    journal: async () => [...(await opening()).entries],
    begin: async (entry) => {
      const { process, epoch } = owned();
      const body = JSON.stringify(entry);
      // By the renewal that is known before it.
      deadline?.begun(body);
      const [begun] = await changing(() =>
        query<{ id: string }>(begin, [scope, process, epoch, body], beginPatience),
      ).catch(async (error: unknown) => {
        // It may be stored, and nothing was sent. Where it stays, it counts as sent. Its body names its pass, so it is like no other.
        deadline?.ended(body);
        await query(unbegin, [scope, body], beginPatience).catch(() => undefined);
        throw error;
      });
      if (!begun) throw takenOver();
      deadline?.begun(begun.id, body);
      deadline?.ended(body);
      return { ...entry, id: Number(begun.id) };
    },
    save: async (changes) => {
      owned();
      await memory.save(changes);
      for (const id of [...changes.left, ...changes.entries.map((entry) => entry.id)])
        deadline?.ended(String(id));
    },
    revisions: async () => {
      const { timeline, revisions } = await opening();
      return {
        of: (id) => {
          const revision = revisions[id];
          // A standby that takes over may give numbers again that it did not hear of.
          return `${scope} ${revision === undefined ? 'none' : `${timeline} ${revision}`}`;
        },
      };
    },
    // Each statement of it is whole by itself, and changes nothing that the pass began with.
    compare: (ids) => compare({ ...rows, change: rows.ask }, { ...location, scope }, ids),
    suspensions: async () => {
      const first = suspensions;
      suspensions = null;
      return first ?? memory.suspensions();
    },
    open: async () => {
      opened = null;
      const found = await opening();
      ({ suspensions } = found);
      return found;
    },
    note: async () =>
      (await opening()).token === location.token
        ? null
        : rows.change((run) => noteClient(run, rows.sql, location)),
    forgetReadings: async () => {
      const templates = await memory.templates();
      await rows.change(async (run) => {
        for (const row of templates)
          await run(rows.sql.saveTemplate, [
            scope,
            row.templateId,
            JSON.stringify({ ...row, lastReading: null }),
          ]);
        await run(`UPDATE dns_sync.clients SET remembered_on = ${currentTimeline} WHERE scope = $1`, [scope]);
      });
    },
  };
};

/** Those of all clients. */
export const rowsOf = ({ query, transaction, place }: PostgresDatabase): Rows => ({
  sql,
  ask: (task) => task(query),
  change: transaction,
  now: async () => (await query<{ now: number }>(`SELECT ${databaseNow} AS now`))[0]!.now,
  life: () => place,
});

const databaseNow = `floor(${milliseconds('clock_timestamp()')})`;

const sql = statementsIn(dialect);
planned(sql.template);

/** By one statement, which also shows whether the client is still ours. */
const readOpening = async (query: Query, { scope, baseUrl, token }: StoreLocation, claim: Claim | null) => {
  const values = [scope, claim?.process ?? null, claim?.epoch ?? null, baseUrl, token];
  const [row] = await query<OpeningRow>(openingOf, values);
  if (row === undefined || (claim !== null && !row.isOurs)) throw takenOver();
  const offset = row.now - performance.now();
  return {
    ...row,
    entries: row.entries.map(([id, body]): Entry => entryIn(body, id)),
    suspensions: row.suspensions
      .map((body) => bodyIn<Suspension>({ body }))
      .filter((one) => isInEffect(one, row.now)),
    /** By the clock of the database. */
    now: () => Math.round(performance.now() + offset),
  };
};

interface OpeningRow {
  readonly isOurs: boolean;
  readonly entries: readonly (readonly [id: number, body: string])[];
  readonly suspensions: readonly string[];
  /** By template. */
  readonly revisions: Readonly<Record<string, number>>;
  /** The digest of the token that was used last; empty if there is no state. */
  readonly token: string;
  /** The living process that has had another client with this token for longer; null if there is none. */
  readonly sharedWith: string | null;
  /** Of the database. */
  readonly timeline: string;
  /** Under which readings were made that are remembered; null: there are none. */
  readonly rememberedOn: string | null;
  /** The last failover that a process has noticed: to this timeline, at this time in ms by the clock of the database. */
  readonly failedOverTo: string;
  readonly failedOverAt: number;
  readonly now: number;
}

const openingOf =
  planned(`SELECT client.owner = $2 AND client.epoch = $3::bigint AND client.timeline = now.timeline AS "isOurs",
    ARRAY(SELECT json_build_array(id, body) FROM dns_sync.journal WHERE scope = $1 ORDER BY id) AS entries,
    ARRAY(SELECT body FROM dns_sync.suspensions WHERE scope = $1 ORDER BY key) AS suspensions,
    (SELECT coalesce(json_object_agg(template_id, revision), '{}') FROM dns_sync.templates WHERE scope = $1) AS revisions,
    coalesce(client.token, '') AS token,
    (SELECT p.place || ', since ' || ${isoTime('c.claimed_at')}
      FROM dns_sync.clients c JOIN dns_sync.processes p ON p.id = c.owner AND p.alive_until > clock_timestamp()
      WHERE c.token = $5 AND c.base_url = $4 AND c.scope <> $1 AND c.claimed_at < client.claimed_at LIMIT 1) AS "sharedWith",
    now.timeline, client.remembered_on AS "rememberedOn", failover.timeline AS "failedOverTo",
    ${milliseconds('failover.since')} AS "failedOverAt", ${databaseNow} AS now
  FROM (SELECT ${currentTimeline} AS timeline) now
    CROSS JOIN (SELECT timeline, since FROM dns_sync.failovers LIMIT 1) failover
    LEFT JOIN dns_sync.clients client ON client.scope = $1`);

const begin = `WITH held AS (SELECT ${heldClaim})
  INSERT INTO dns_sync.journal (scope, body) SELECT scope, $4 FROM held RETURNING id`;

const unbegin = 'DELETE FROM dns_sync.journal WHERE scope = $1 AND body = $2';

/** Milliseconds: an intent that takes longer is not begun. */
const beginPatience = 2_000;
