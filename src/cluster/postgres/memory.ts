import type { ClientMemory, KnownClient } from '../../state/client-memory.ts';
import {
  type IntentResult,
  type HistoryEntry,
  type HistoryFilter,
  type Intent,
  type MemoryChanges,
  type RecordState,
  type TemplateRow,
  historyEntryOf,
} from '../../state/memory.ts';
import { clientsOf, parse, rivalsAt } from './clients.ts';
import { planned, type PostgresDatabase, type Query } from './database.ts';
import { heldLeases, noFence, requireLeases, takenOver, type Fence } from './fence.ts';
import { readOpening, type Opening } from './opening.ts';
import { versionIn } from './schema.ts';
import { suspensionsIn } from './suspensions.ts';
import { isUnsent, removeUnsent } from './unsent.ts';

export interface PostgresMemory extends ClientMemory {
  /** What a pass begins with, which also says whether the database has failed over. `anew`: read again. */
  opening(anew?: 'anew'): Promise<Opening>;
}

/**
 * The memory of one client in PostgreSQL. `digest` is that of its token, by which it has to be identified before it is
 * used. A write is on disk when its promise resolves;
 * it rejects with `MemoryError` where a lease of the fence is not ours any more, or the database does not take it.
 */
export const openPostgresMemory = (
  database: PostgresDatabase,
  digest: string,
  fence: () => Fence = () => noFence,
): PostgresMemory => {
  const { query, transaction } = database;
  const clients = clientsOf(database);
  let scope = digest;
  const actAs = (client: KnownClient): void => {
    scope = client.scope;
  };
  /** Under these leases nobody else changes it: what was read holds until this process writes. */
  let held: { readonly tokens: string; readonly found: Opening } | null = null;
  const opening = async (of: string | null = scope): Promise<Opening> => {
    const tokens = fence().tokens.join();
    if (tokens !== '' && held?.tokens === tokens && held.found.scope === (of ?? held.found.scope))
      return held.found;
    const found = await readOpening(query, digest, of);
    held = { tokens, found };
    return found;
  };
  const identify = async (): Promise<KnownClient | null> => {
    const { client } = await opening(null);
    if (client) actAs(client);
    return client;
  };
  /** What is kept under these is ours to settle: adds of rivals to a template that is ours too. */
  const scopesIn = ({ client, rivals }: Opening): readonly string[] => [
    scope,
    ...rivalsAt(client?.baseUrl ?? null, rivals),
  ];
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
  const changed = (task: (run: Query) => Promise<void>): Promise<void> =>
    changing(() =>
      transaction(async (run) => {
        await requireLeases(run, fence());
        await task(run);
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
    openIntents: async () => {
      const found = await opening();
      const ours = scopesIn(found);
      return found.intents
        .filter((row) => ours.includes(row.scope) && !isUnsent(row.body))
        .map(({ id, body }) => ({ ...parse<Intent>(body), id }));
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
    begin: async (intent) => {
      const { names, tokens } = fence();
      const body = JSON.stringify(intent);
      const values = [names, tokens, scope, intent.templateId, body];
      const [begun] = await changing(() => query<{ id: string }>(queries.begin, values, beginPatience)).catch(
        async (error: unknown) => {
          await removeUnsent(query, { scope, templateId: intent.templateId, body });
          throw error;
        },
      );
      if (!begun) throw takenOver();
      return { ...intent, id: Number(begun.id) };
    },
    finish: async (intent, result, changes) => {
      const closable = scopesIn(await opening());
      const saved = asRows(changes);
      await changed(async (run) => {
        await run(queries.close, [intent.id, closable]);
        await note(run, scope, intent, result);
        await save(run, scope, saved);
      });
    },
    save: async (changes) => {
      const saved = asRows(changes);
      await changed((run) => save(run, scope, saved));
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
    ...suspensionsIn(database, () => [scope, digest]),
    identify,
    actAs,
    opening: (anew) => {
      if (anew) held = null;
      return opening();
    },
    clients: {
      fitting: clients.fitting,
      rivalsOf: async (client, templateIds) =>
        client.scope === scope && templateIds.length === 0
          ? rivalsAt(client.baseUrl, (await opening()).rivals)
          : clients.rivalsOf(client, templateIds),
      learn: (client, templateIds) =>
        changing(async () => {
          await clients.learn(client, digest, templateIds);
          actAs(client);
        }),
    },
    close: () => Promise.resolve(),
  };
};

/** The memory of the client with that token, which it identifies. Null if nothing was ever stored in the database. */
export const readPostgresMemory = async (
  database: PostgresDatabase,
  digest: string,
): Promise<ClientMemory | null> => {
  if ((await versionIn(database.query)) === 0) return null;
  const memory = openPostgresMemory(database, digest);
  await memory.identify();
  return memory;
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

const asRows = ({ row, records, forgotten }: MemoryChanges): ChangedRows => {
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

const note = async (run: Query, scope: string, intent: Intent, result: IntentResult): Promise<void> => {
  const { at } = intent;
  const entry = historyEntryOf(intent, result);
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
    INSERT INTO dns_template_sync.intents (scope, template_id, body)
    SELECT $3, $4, $5 WHERE (SELECT count(*) FROM held) = cardinality($1::text[]) RETURNING id`,
  close: 'DELETE FROM dns_template_sync.intents WHERE id = $1 AND scope = ANY ($2::text[])',
  note: `INSERT INTO dns_template_sync.history (scope, at, body) SELECT $1, $2::bigint, $3::text
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
