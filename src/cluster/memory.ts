import {
  entryIn,
  entryText,
  historyIn,
  historyText,
  recordIn,
  recordText,
  type Written,
} from '../state/bodies.ts';
import {
  historyAge,
  isAskedFor,
  newestWrites,
  type ClientMemory,
  type Entry,
  type HistoryEntry,
  type MemoryChanges,
  type TemplateRow,
} from '../state/memory.ts';
import type { StoreLocation } from '../state/store-location.ts';
import { isInEffect, type Suspension } from '../model/suspension.ts';
import { planned, type PostgresDatabase, type Query } from './database.ts';
import { comparedByOthers, noteClient, noteCompared } from './clients.ts';
import { heldClaim, isStillClaimed, type Claim } from './owners.ts';
import { suspensionsIn } from './suspensions.ts';
import { currentTimeline, milliseconds, takenOver } from './timeline.ts';
import { isUnsent, removeUnsent } from './unsent.ts';

export interface PostgresMemory extends ClientMemory {
  /** What a pass begins with, read again. */
  open(): Promise<Opening>;
  /** Notes who has this state. Returns the name of the client whose state it took over; null if there was none. */
  note(): Promise<string | null>;
  /** Readings from before a failover count no more. */
  forgetReadings(): Promise<void>;
}

/** What a pass needs to know of its client and of the database before it compares anything. */
export interface Opening {
  readonly entries: readonly Entry[];
  readonly suspensions: readonly Suspension[];
  /** The digest of the token that was used last; empty if there is no state. */
  readonly token: string;
  /** The living process that has had another client with this token for longer; null if there is none. */
  readonly sharedWith: string | null;
  /** Templates of which it was noted within the last hour that this client compares them. */
  readonly compared: ReadonlySet<number>;
  /** By template. */
  readonly revisions: ReadonlyMap<number, string>;
  /** Of the database. */
  readonly timeline: string;
  /** Under which readings were made that are remembered; null: there are none. */
  readonly rememberedOn: string | null;
  /** The last failover that a process has noticed: to this timeline, at this time in ms by the clock of the database. */
  readonly failover: { readonly timeline: string; readonly since: number };
  /** The clock of the database minus `performance.now()`. */
  readonly clockOffset: number;
}

/**
 * The memory of one client in PostgreSQL. A write is on disk when its promise resolves; it rejects with `MemoryError` where
 * the client is not ours any more, or the database does not take it. Without a claim it can only be read. `scope`: whose
 * state, the client's own or that of its earlier name.
 */
export const openPostgresMemory = (
  database: PostgresDatabase,
  location: StoreLocation,
  claim: Claim | null,
  scope = location.scope,
): PostgresMemory => {
  const { query, transaction } = database;
  /** While it is ours nobody else changes it: what was read holds until this process writes. */
  let opened: Promise<Opening> | null = null;
  const opening = (): Promise<Opening> => (opened ??= readOpening(query, { ...location, scope }, claim));
  const bodies = async <T>(sql: string, ...values: readonly unknown[]): Promise<T[]> =>
    (await query<{ body: string }>(sql, values)).map(({ body }) => parse<T>(body));
  const changing = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await task();
    } finally {
      opened = null;
    }
  };
  const suspended = suspensionsIn(database, scope);
  /** The first time they are those that the pass began with. */
  let isFirstTaken = false;
  const owned = (): Claim => {
    if (claim === null) throw takenOver();
    return claim;
  };
  const changed = <T>(task: (run: Query) => Promise<T>): Promise<T> =>
    changing(() =>
      transaction(async (run) => {
        if (!(await isStillClaimed(run, owned()))) throw takenOver();
        return task(run);
      }),
    );

  return {
    template: async (templateId) => {
      const [first, ...records] = await query<SavedRow>(sql.template, [scope, templateId]);
      if (first?.key !== null) return null;
      const saved = records.map(({ body }) => recordIn(parse(body)));
      return { row: parse<TemplateRow>(first.body), records: saved };
    },
    templates: () => bodies(sql.templates, scope),
    journal: async () => [...(await opening()).entries],
    history: async (filter = {}) => {
      const saved = await bodies<Written<HistoryEntry>>(sql.history, scope, filter.since ?? 0);
      return saved.map(historyIn).filter((entry) => isAskedFor(entry, filter));
    },
    historySlice: async ({ before, rows, since = 0, ...filter }) => {
      const found = await query<SavedEntry>(sql.slice, [scope, since, before.at, before.id, rows]);
      const entries = found.map(({ id, body }) => ({ ...historyIn(parse(body)), id: Number(id) }));
      const last = entries.at(-1);
      return {
        entries: entries.filter((entry) => isAskedFor(entry, filter)),
        end: last === undefined || found.length < rows ? null : { at: last.at, id: last.id },
      };
    },
    begin: async (entry) => {
      const { process, epoch } = owned();
      const body = entryText(entry);
      const values = [scope, process, epoch, entry.templateId, body];
      const [begun] = await changing(() => query<{ id: string }>(sql.begin, values, beginPatience)).catch(
        async (error: unknown) => {
          await removeUnsent(query, { scope, templateId: entry.templateId, body });
          throw error;
        },
      );
      if (!begun) throw takenOver();
      return { ...entry, id: Number(begun.id) };
    },
    save: async (changes) => {
      const { entries, left, history } = changes;
      const texts = entries.map(entryText);
      const saved = asRows(changes);
      await changed(async (run) => {
        if (entries.length > 0) await run(sql.amend, [scope, entries.map(({ id }) => id), texts]);
        if (left.length > 0) await run(sql.leave, [scope, left]);
        for (const entry of history) await note(run, scope, entry);
        if (saved !== null) await save(run, scope, saved);
      });
    },
    revisions: async () => {
      const { timeline, revisions } = await opening();
      return {
        of: (id) => {
          const revision = revisions.get(id);
          // A standby that takes over may give numbers again that it did not hear of.
          return `${scope} ${revision === undefined ? 'none' : `${timeline} ${revision}`}`;
        },
      };
    },
    ...suspended,
    suspensions: async () => {
      const first = opened && (await opened).suspensions;
      if (!first || isFirstTaken) return suspended.suspensions();
      isFirstTaken = true;
      return first;
    },
    open: () => {
      opened = null;
      isFirstTaken = false;
      return opening();
    },
    note: async () =>
      (await opening()).token === location.token ? null : changed((run) => noteClient(run, location)),
    comparedByOthers: (ids) => comparedByOthers(query, location, ids),
    compare: async (ids) => {
      const { compared } = await opening();
      const others = ids.filter((id) => !compared.has(id));
      return others.length === 0 ? new Map() : noteCompared(query, location, others);
    },
    forgetReadings: async () => {
      const rows = await bodies<TemplateRow>(sql.templates, scope);
      await changed(async (run) => {
        for (const row of rows)
          await run(sql.saveTemplate, [
            scope,
            row.templateId,
            JSON.stringify({ ...row, lastReading: null } satisfies TemplateRow),
          ]);
        await run(sql.rememberedOn, [scope]);
      });
    },
  };
};

/** By one statement, which also shows whether the client is still ours. */
const readOpening = async (
  query: Query,
  { scope, baseUrl, token: own }: StoreLocation,
  claim: Claim | null,
): Promise<Opening> => {
  const values = [scope, claim?.process ?? null, claim?.epoch ?? null, baseUrl, own];
  const [row] = await query<OpeningRow>(sql.opening, values);
  if (row === undefined || (claim !== null && !row.isOurs)) throw takenOver();
  const { entries, suspensions, revisions, since, failedOverTo, now, timeline, rememberedOn, token } = row;
  return {
    suspensions: suspensions.map((body) => parse<Suspension>(body)).filter((one) => isInEffect(one, now)),
    timeline,
    rememberedOn,
    token,
    sharedWith: row.sharedWith,
    compared: new Set(row.compared.map(Number)),
    entries: entries
      .map((text) => parse<{ id: number; body: string }>(text))
      .filter(({ body }) => !isUnsent(body))
      .map(({ id, body }) => entryIn(parse(body), id)),
    revisions: new Map(
      revisions.map((one) => [Number(one.split(' ')[0]), one.slice(one.indexOf(' ') + 1)] as const),
    ),
    failover: { timeline: failedOverTo, since },
    clockOffset: now - performance.now(),
  };
};

interface OpeningRow extends Pick<Opening, 'timeline' | 'rememberedOn' | 'token' | 'sharedWith'> {
  readonly isOurs: boolean;
  readonly entries: readonly string[];
  readonly suspensions: readonly string[];
  readonly compared: readonly string[];
  readonly revisions: readonly string[];
  readonly failedOverTo: string;
  readonly since: number;
  readonly now: number;
}

/** The bodies are this program's own; the schema version says which version wrote them. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
const parse = <T>(body: string): T => JSON.parse(body) as T;

/** Milliseconds: an intent that takes longer is not begun. */
const beginPatience = 2_000;

interface SavedRow {
  /** Null for the template itself. */
  readonly key: string | null;
  readonly body: string;
}

interface SavedEntry {
  readonly id: string;
  readonly body: string;
}

/** Changes as they are stored, made before anything is begun: what cannot be stored changes nothing. */
interface ChangedRows {
  readonly templateId: number;
  readonly row: string;
  readonly keys: readonly string[];
  readonly bodies: readonly string[];
  readonly forgotten: readonly string[];
}

const asRows = ({ row, records, forgotten }: MemoryChanges): ChangedRows | null => {
  if (row === null) return null;
  const kept = new Map(records.map((record) => [asKey(record.key), recordText(record)]));
  return {
    templateId: row.templateId,
    row: JSON.stringify(row),
    keys: [...kept.keys()],
    bodies: [...kept.values()],
    forgotten: forgotten.map(asKey).filter((key) => !kept.has(key)),
  };
};

/** A service may put any character into a record; PostgreSQL takes no NUL. */
const asKey = (key: string): string => JSON.stringify(key);

const save = async (run: Query, scope: string, rows: ChangedRows): Promise<void> => {
  const { templateId, row, keys, bodies, forgotten } = rows;
  await run(sql.saveTemplate, [scope, templateId, row]);
  if (forgotten.length > 0) await run(sql.forget, [scope, templateId, forgotten]);
  if (keys.length > 0) await run(sql.saveRecords, [scope, templateId, keys, bodies]);
};

const note = async (run: Query, scope: string, entry: HistoryEntry): Promise<void> => {
  const { at } = entry;
  await run(sql.note, [scope, at, historyText(entry)]);
  await run(sql.trimOld, [scope, at - historyAge, newestWrites, historyAge]);
};

const sql = {
  opening:
    planned(`SELECT client.owner = $2 AND client.epoch = $3::bigint AND client.timeline = now.timeline AS "isOurs",
      ARRAY(SELECT json_build_object('id', id, 'body', body)::text FROM dns_sync.journal
        WHERE scope = $1 ORDER BY id) AS entries,
      ARRAY(SELECT body FROM dns_sync.suspensions WHERE scope = $1 ORDER BY key) AS suspensions,
      ARRAY(SELECT template_id FROM dns_sync.compared
        WHERE scope = $1 AND at > clock_timestamp() - interval '1 hour') AS compared, coalesce(client.token, '') AS token,
      (SELECT p.place || ', since ' || to_char(c.claimed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
        FROM dns_sync.clients c JOIN dns_sync.processes p ON p.id = c.owner AND p.alive_until > clock_timestamp()
        WHERE c.token = $5 AND c.base_url = $4 AND c.scope <> $1 AND c.claimed_at < client.claimed_at LIMIT 1) AS "sharedWith",
      ARRAY(SELECT template_id || ' ' || revision FROM dns_sync.templates
        WHERE scope = $1 ORDER BY template_id) AS revisions,
      now.timeline, client.remembered_on AS "rememberedOn", failover.timeline AS "failedOverTo",
      ${milliseconds('failover.since')} AS since, ${milliseconds('clock_timestamp()')} AS now
    FROM (SELECT ${currentTimeline} AS timeline) now
      CROSS JOIN (SELECT timeline, since FROM dns_sync.failovers LIMIT 1) failover
      LEFT JOIN dns_sync.clients client ON client.scope = $1`),
  // The template comes before its records: by one statement, since each pass asks for it.
  template: planned(`SELECT key, body FROM (
      SELECT NULL AS key, body FROM dns_sync.templates WHERE scope = $1 AND template_id = $2
      UNION ALL SELECT key, body FROM dns_sync.records WHERE scope = $1 AND template_id = $2) AS saved
    ORDER BY key COLLATE "C" NULLS FIRST`),
  templates: 'SELECT body FROM dns_sync.templates WHERE scope = $1 ORDER BY template_id',
  history: 'SELECT body FROM dns_sync.history WHERE scope = $1 AND at >= $2 ORDER BY at, id',
  slice: `SELECT id, body FROM dns_sync.history WHERE scope = $1 AND at >= $2 AND (at, id) < ($3, $4)
    ORDER BY at DESC, id DESC LIMIT $5`,
  begin: `WITH held AS (SELECT ${heldClaim})
    INSERT INTO dns_sync.journal (scope, template_id, body) SELECT scope, $4, $5 FROM held RETURNING id`,
  amend: `UPDATE dns_sync.journal j SET body = changed.body
    FROM unnest($2::bigint[], $3::text[]) AS changed (id, body) WHERE j.id = changed.id AND j.scope = $1`,
  leave: 'DELETE FROM dns_sync.journal WHERE scope = $1 AND id = ANY ($2::bigint[])',
  // Whoever lost the connection cannot know that it was noted.
  note: `INSERT INTO dns_sync.history (scope, at, body) SELECT $1::text, $2::bigint, $3::text
    WHERE NOT EXISTS (SELECT 1 FROM dns_sync.history WHERE scope = $1 AND at = $2 AND body = $3)`,
  trimOld: `DELETE FROM dns_sync.history WHERE scope = $1 AND at < $2 AND at <
    (SELECT min(at) FROM (SELECT at FROM dns_sync.history WHERE scope = $1 ORDER BY id DESC LIMIT $3) newest)
    - $4::bigint`,
  saveTemplate: `INSERT INTO dns_sync.templates (scope, template_id, revision, body)
    VALUES ($1, $2, nextval('dns_sync.revisions'), $3) ON CONFLICT (scope, template_id)
    DO UPDATE SET revision = excluded.revision, body = excluded.body`,
  forget: 'DELETE FROM dns_sync.records WHERE scope = $1 AND template_id = $2 AND key = ANY ($3::text[])',
  saveRecords: `INSERT INTO dns_sync.records (scope, template_id, key, body)
    SELECT $1, $2, key, body FROM unnest($3::text[], $4::text[]) AS changed (key, body)
    ON CONFLICT (scope, template_id, key) DO UPDATE SET body = excluded.body`,
  rememberedOn: `UPDATE dns_sync.clients SET remembered_on = ${currentTimeline} WHERE scope = $1`,
} as const;
