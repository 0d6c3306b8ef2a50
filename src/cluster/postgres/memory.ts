import type {
  ClientMemory,
  Entry,
  HistoryEntry,
  HistoryFilter,
  MemoryChanges,
  RecordState,
  TemplateRow,
} from '../../state/memory.ts';
import type { StoreLocation } from '../../state/store-location.ts';
import { comparedByOthers, noteClient, noteCompared, parse, renamedFrom } from './clients.ts';
import { planned, type PostgresDatabase, type Query } from './database.ts';
import { heldLeases, noFence, requireLeases, takenOver, type Fence } from './fence.ts';
import { readOpening, type Opening } from './opening.ts';
import { versionIn } from './schema.ts';
import { suspensionsIn } from './suspensions.ts';
import { isUnsent, removeUnsent } from './unsent.ts';

export interface PostgresMemory extends ClientMemory {
  /** What a pass begins with, which also says whether the database has failed over. `anew`: read again. */
  opening(anew?: 'anew'): Promise<Opening>;
  /** Notes who has this state. Returns the name of the client whose state it took over; null if there was none. */
  note(): Promise<string | null>;
}

/**
 * The memory of one client in PostgreSQL. A write is on disk when its promise resolves;
 * it rejects with `MemoryError` where a lease of the fence is not ours any more, or the database does not take it.
 * `scope`: whose state, the client's own or that of its earlier name.
 */
export const openPostgresMemory = (
  database: PostgresDatabase,
  location: StoreLocation,
  fence: () => Fence = () => noFence,
  scope = location.scope,
): PostgresMemory => {
  const { query, transaction } = database;
  /** Under these leases nobody else changes it: what was read holds until this process writes. */
  let held: { readonly tokens: string; readonly found: Opening } | null = null;
  const opening = async (): Promise<Opening> => {
    const tokens = fence().tokens.join();
    if (tokens !== '' && held?.tokens === tokens) return held.found;
    const found = await readOpening(query, scope);
    held = { tokens, found };
    return found;
  };
  const bodies = async <T>(sql: string, ...values: readonly unknown[]): Promise<T[]> =>
    (await query<{ body: string }>(sql, values)).map(({ body }) => parse<T>(body));
  const changing = async <T>(task: () => Promise<T>): Promise<T> => {
    held = null;
    try {
      return await task();
    } finally {
      held = null;
    }
  };
  const changed = <T>(task: (run: Query) => Promise<T>): Promise<T> =>
    changing(() =>
      transaction(async (run) => {
        await requireLeases(run, fence());
        return task(run);
      }),
    );

  return {
    template: async (templateId) => {
      const [first, ...records] = await query<SavedRow>(queries.template, [scope, templateId]);
      if (first?.key !== null) return null;
      return {
        row: parse<TemplateRow>(first.body),
        records: records.map(({ body }) => parse<RecordState>(body)),
      };
    },
    templates: () => bodies(queries.templates, scope),
    journal: async () => {
      const { intents } = await opening();
      return intents
        .filter(({ body }) => !isUnsent(body))
        .map(({ id, body }) => ({ ...parse<Entry>(body), id }));
    },
    history: async (filter = {}) => {
      const entries = await bodies<HistoryEntry>(queries.history, scope, filter.since ?? 0);
      return entries.filter((entry) => matches(entry, filter));
    },
    historySlice: async ({ before, rows, since = 0, ...filter }) => {
      const found = await query<SavedEntry>(queries.slice, [scope, since, before.at, before.id, rows]);
      const entries = found.map(({ id, body }) => ({ ...parse<HistoryEntry>(body), id: Number(id) }));
      const last = entries.at(-1);
      return {
        entries: entries.filter((entry) => matches(entry, filter)),
        end: last === undefined || found.length < rows ? null : { at: last.at, id: last.id },
      };
    },
    begin: async (entry) => {
      const { names, tokens } = fence();
      const body = JSON.stringify(entry);
      const values = [names, tokens, scope, entry.templateId, body];
      const [begun] = await changing(() => query<{ id: string }>(queries.begin, values, beginPatience)).catch(
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
      const texts = entries.map((entry) => JSON.stringify(entry));
      const saved = asRows(changes);
      await changed(async (run) => {
        if (entries.length > 0) await run(queries.amend, [entries.map(({ id }) => id), texts, scope]);
        if (left.length > 0) await run(queries.leave, [left, scope]);
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
    ...suspensionsIn(database, scope),
    opening: (anew) => {
      if (anew) held = null;
      return opening();
    },
    note: async () => {
      const { token } = await opening();
      if (token === location.token) return null;
      return changed((run) => noteClient(run, location, token !== null));
    },
    comparedByOthers: (ids) => comparedByOthers(query, { scope, baseUrl: location.baseUrl }, ids),
    compare: async (ids) => {
      const { compared } = await opening();
      const noted = new Set(compared);
      if (location.isSandbox || ids.every((id) => noted.has(id))) return new Map();
      return changed((run) => noteCompared(run, location, ids));
    },
  };
};

/** The memory of a client, for reading; null if nothing was ever stored in the database. */
export const readPostgresMemory = async (
  database: PostgresDatabase,
  location: StoreLocation,
): Promise<ClientMemory | null> => {
  const { query } = database;
  if ((await versionIn(query)) === 0) return null;
  const memory = openPostgresMemory(database, location);
  if ((await memory.opening()).token !== null) return memory;
  const before = await renamedFrom(query, location);
  return before ? openPostgresMemory(database, location, undefined, before.scope) : memory;
};

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
  const kept = new Map(records.map((record) => [asKey(record.key), JSON.stringify(record)]));
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
  await run(queries.saveTemplate, [scope, templateId, row]);
  if (forgotten.length > 0) await run(queries.forget, [scope, templateId, forgotten]);
  if (keys.length > 0) await run(queries.saveRecords, [scope, templateId, keys, bodies]);
};

const note = async (run: Query, scope: string, entry: HistoryEntry): Promise<void> => {
  const { at } = entry;
  await run(queries.note, [scope, at, JSON.stringify(entry)]);
  await run(queries.trimOld, [scope, at - historyAge, newestWrites, historyAge]);
};

const historyAge = 90 * 86_400_000;
/** A clock may be wrong: an entry is old where it is by so many of the client's newest writes, by each of them. */
const newestWrites = 100;

const matches = (
  entry: Pick<HistoryEntry, 'template' | 'outcome'>,
  { templates, outcome }: HistoryFilter,
): boolean =>
  (!templates || templates.length === 0 || templates.includes(entry.template)) &&
  (!outcome || entry.outcome === outcome);

const queries = {
  // The template comes before its records: by one statement, since each pass asks for it.
  template: planned(`SELECT key, body FROM (
      SELECT NULL AS key, body FROM dns_template_sync.templates WHERE scope = $1 AND template_id = $2
      UNION ALL SELECT key, body FROM dns_template_sync.records WHERE scope = $1 AND template_id = $2) AS saved
    ORDER BY key COLLATE "C" NULLS FIRST`),
  templates: 'SELECT body FROM dns_template_sync.templates WHERE scope = $1 ORDER BY template_id',
  history: 'SELECT body FROM dns_template_sync.history WHERE scope = $1 AND at >= $2 ORDER BY at, id',
  slice: `SELECT id, body FROM dns_template_sync.history WHERE scope = $1 AND at >= $2 AND (at, id) < ($3, $4)
    ORDER BY at DESC, id DESC LIMIT $5`,
  begin: `WITH held AS (${heldLeases})
    INSERT INTO dns_template_sync.journal (scope, template_id, body)
    SELECT $3, $4, $5 WHERE (SELECT count(*) FROM held) = cardinality($1::text[]) RETURNING id`,
  amend: `UPDATE dns_template_sync.journal j SET body = changed.body
    FROM unnest($1::bigint[], $2::text[]) AS changed (id, body) WHERE j.id = changed.id AND j.scope = $3`,
  leave: 'DELETE FROM dns_template_sync.journal WHERE id = ANY ($1::bigint[]) AND scope = $2',
  // Whoever lost the connection cannot know that it was noted.
  note: `INSERT INTO dns_template_sync.history (scope, at, body) SELECT $1::text, $2::bigint, $3::text
    WHERE NOT EXISTS (SELECT 1 FROM dns_template_sync.history WHERE scope = $1 AND at = $2 AND body = $3)`,
  trimOld: `DELETE FROM dns_template_sync.history WHERE scope = $1 AND at < $2 AND at <
    (SELECT min(at) FROM (SELECT at FROM dns_template_sync.history WHERE scope = $1 ORDER BY id DESC LIMIT $3) newest)
    - $4::bigint`,
  saveTemplate: `INSERT INTO dns_template_sync.templates (scope, template_id, revision, body)
    VALUES ($1, $2, nextval('dns_template_sync.revisions'), $3) ON CONFLICT (scope, template_id)
    DO UPDATE SET revision = excluded.revision, body = excluded.body`,
  forget:
    'DELETE FROM dns_template_sync.records WHERE scope = $1 AND template_id = $2 AND key = ANY ($3::text[])',
  saveRecords: `INSERT INTO dns_template_sync.records (scope, template_id, key, body)
    SELECT $1, $2, key, body FROM unnest($3::text[], $4::text[]) AS changed (key, body)
    ON CONFLICT (scope, template_id, key) DO UPDATE SET body = excluded.body`,
} as const;
