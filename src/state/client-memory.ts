import { yieldToOthers } from '../lib/yield.ts';
import {
  inEffectByKey,
  isEndedBy,
  isInEffect,
  suspensionKey,
  suspensionsFrom,
  type Suspension,
} from '../model/suspension.ts';
import { historyAge, type ClientMemory, type Entry, type HistoryEntry, type SavedRecord } from './memory.ts';
import type { StoreLocation } from './store-location.ts';
import type { Query, Rows, Statements } from './tables.ts';

/** The state of one client. `scope`: whose rows they are, its own or those of its earlier name. */
export const clientMemory = (rows: Rows, location: StoreLocation, scope = location.scope): ClientMemory => {
  const { sql, ask, change, now } = rows;
  const owner = { ...location, scope };
  const bodies = <Body>(statement: string): Promise<Body[]> =>
    ask(async (query) => (await query<SavedBody>(statement, [scope])).map((row) => bodyIn<Body>(row)));
  const inEffect = async (query: Query, at: number): Promise<Suspension[]> =>
    (await query<SavedBody>(sql.suspensions, [scope]))
      .map((row) => bodyIn<Suspension>(row))
      .filter((one) => isInEffect(one, at));

  return {
    template: (templateId) =>
      ask(async (query) => {
        const saved = await query<SavedBody & { isTemplate: number }>(sql.template, [scope, templateId]);
        const row = saved.find(({ isTemplate }) => isTemplate === 1);
        if (row === undefined) return null;
        const records = saved.filter((one) => one !== row);
        return {
          row: bodyIn(row),
          records: records.map((one) => bodyIn<SavedRecord>(one)),
        };
      }),
    templates: () => bodies(sql.templates),
    journal: () =>
      ask(async (query) => {
        const saved = await query<SavedBody & SavedId>(sql.journal, [scope]);
        return saved.map((row) => entryIn(row.body, row.id));
      }),
    history: async ({ templates = [], since = 0, outcome = null, limit }) => {
      const found: HistoryEntry[] = [];
      let [at, id, count] = [Number.MAX_SAFE_INTEGER, 0, rowsAtOnce];
      while (count === rowsAtOnce && found.length < limit) {
        const values = [scope, since, at, id, rowsAtOnce];
        const saved = await ask((query) => query<SavedBody & SavedId>(sql.history, values));
        for (const row of saved) {
          const entry = bodyIn<HistoryEntry>(row);
          [at, id] = [entry.at, Number(row.id)];
          const isOther = templates.length > 0 && !templates.includes(entry.template);
          if (!isOther && (outcome === null || entry.outcome === outcome)) found.push(entry);
        }
        count = saved.length;
        await yieldToOthers();
      }
      return found.slice(0, limit).toReversed();
    },
    begin: async (entry) => {
      const [begun] = await change((query) => query<SavedId>(sql.begin, [scope, JSON.stringify(entry)]));
      return { ...entry, id: Number(begun!.id) };
    },
    save: async ({ row, records, forgotten, entries, left, history }) => {
      // Made before anything is begun: what cannot be stored changes nothing.
      const template = JSON.stringify(row);
      const kept = new Map(records.map((record) => [keyText(record.key), JSON.stringify(record)]));
      const gone = forgotten.map(keyText).filter((key) => !kept.has(key));
      const amended = entries.map((entry) => [entry.id, JSON.stringify(entry)]);
      const noted = history.map((entry) => [scope, entry.at, JSON.stringify(entry)]);
      // To lose it is as if the process had died before it; an intent that follows takes it to the disk.
      await change(async (query) => {
        for (const some of slices(amended)) await query(sql.amend, [scope, some]);
        for (const some of slices(asRows(left))) await query(sql.leave, [scope, some]);
        for (const [index, values] of noted.entries()) {
          await query(sql.note, values);
          await query(sql.trimOld, [scope, history[index]!.at - historyAge]);
          if (sql.trimMost !== null) await query(sql.trimMost);
        }
        if (row === null) return;
        await query(sql.saveTemplate, [scope, row.templateId, template]);
        for (const some of slices(asRows(gone))) await query(sql.forget, [scope, row.templateId, some]);
        for (const some of slices([...kept])) await query(sql.saveRecords, [scope, row.templateId, some]);
      }, false);
    },
    suspensions: async () => {
      const at = await now();
      return ask((query) => inEffect(query, at));
    },
    suspend: async (request) => {
      const made = suspensionsFrom(request, await now());
      return change(async (query) => {
        for (const one of made) await query(sql.suspend, [scope, suspensionKey(one), JSON.stringify(one)]);
        return made;
      });
    },
    resume: async (templates) => {
      const at = await now();
      return change(async (query) => {
        const ended = (await inEffect(query, at)).filter((one) => isEndedBy(one, templates));
        for (const one of ended) await query(sql.resume, [scope, suspensionKey(one)]);
        return ended;
      });
    },
    revisions: () =>
      ask(async (query) => {
        const saved = await query<SavedId & { revision: number | string }>(sql.revisions, [scope]);
        const byId = new Map(saved.map(({ id, revision }) => [Number(id), revision]));
        return { of: (id) => `${scope} ${byId.get(id) ?? 'none'}` };
      }),
    comparedByOthers: async (ids) => {
      const at = await now();
      return ask((query) => comparedByOthers(query, sql, owner, ids, at));
    },
    compare: (ids) => compare(rows, owner, ids),
  };
};

/** Those in effect of all clients, by the scope of the client. */
export const allSuspensions = ({
  ask,
  now,
  sql,
}: Rows): Promise<ReadonlyMap<string, readonly Suspension[]>> =>
  ask(async (query) => {
    const saved = await query<SavedBody & { scope: string }>(sql.allSuspensions);
    const all = saved.map((row) => ({ key: row.scope, suspension: bodyIn<Suspension>(row) }));
    return inEffectByKey(all, all.length === 0 ? 0 : await now());
  });

/** Whose state a client without any takes over: of a name that is not set any more, and used this token last. */
export const renamedFrom = async (
  query: Query,
  sql: Statements,
  { scope, baseUrl, token, names }: StoreLocation,
): Promise<Earlier | null> => {
  if (baseUrl === null) return null;
  const gone = (await query<Earlier>(sql.renamed, [scope, baseUrl, token])).filter(
    ({ name }) => !names.includes(name),
  );
  return gone.length === 1 ? gone[0]! : null;
};

interface Earlier {
  readonly scope: string;
  readonly name: string;
}

/**
 * Notes who has this state and with which token, and takes over the state of a client that was renamed. Returns the name
 * that it had; null if it was not.
 */
export const noteClient = async (
  query: Query,
  sql: Statements,
  location: StoreLocation,
): Promise<string | null> => {
  const { scope, baseUrl, name, token } = location;
  const before = await renamedFrom(query, sql, location);
  if (before) {
    // First, so that whoever has the earlier name begins nothing after that, and what it began is seen.
    await query(sql.removeClient, [before.scope]);
    for (const table of sql.takeOver) await query(table, [scope, before.scope]);
  }
  await query(sql.noteClient, [scope, baseUrl ?? 'sandbox', name, token]);
  return before?.name ?? null;
};

/** By template: the name of another client of its base URL that has compared it within the last day. */
const comparedByOthers = async (
  query: Query,
  sql: Statements,
  { scope, baseUrl }: StoreLocation,
  templateIds: readonly number[],
  now: number,
): Promise<ReadonlyMap<number, string>> => {
  if (baseUrl === null || templateIds.length === 0) return new Map();
  const values = [baseUrl, listOf(templateIds), scope, now - day, now + day];
  const rows = await query<{ id: number | string; name: string }>(sql.comparedByOthers, values);
  return new Map(rows.map(({ id, name }) => [Number(id), name]));
};

/** The same, and notes that this client compares the others now, unless this process did within the last hour. */
export const compare = async (
  { sql, change, now, life }: Rows,
  location: StoreLocation,
  templateIds: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  const { scope, baseUrl } = location;
  if (baseUrl === null) return new Map();
  const at = await now();
  const noted = notedAt.get(`${life()} ${scope}`) ?? new Map<number, number>();
  notedAt.set(`${life()} ${scope}`, noted);
  const left = templateIds.filter((id) => Math.abs(at - (noted.get(id) ?? -Infinity)) >= hour);
  if (left.length === 0) return new Map();
  const others = await change(async (query) => {
    await query(sql.compare, [baseUrl, listOf(left), scope, at, at - day, at + day]);
    return comparedByOthers(query, sql, location, left, at);
  });
  for (const id of left) if (!others.has(id)) noted.set(id, at);
  return others;
};

/** When this process noted that, by client and template, by the clock of the store. */
const notedAt = new Map<string, Map<number, number>>();

const listOf = (ids: readonly number[]): string => JSON.stringify(ids.map((id) => [id]));

/** Milliseconds. */
const hour = 3_600_000;
const day = 24 * hour;

/** By the number of its row. */
export const entryIn = (body: string, id: number | string): Entry => ({
  ...bodyIn<Entry>({ body }),
  id: Number(id),
});

interface SavedBody {
  readonly body: string;
}

interface SavedId {
  readonly id: number | string;
}

/** Throws if it is none. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export const bodyIn = <Body>({ body }: SavedBody): Body => {
  const value: unknown = JSON.parse(body);
  if (typeof value !== 'object' || value === null) throw new SyntaxError('a row is no object');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own, by the schema version
  return value as Body;
};

/** A service may put any character into a record; PostgreSQL takes no NUL. */
const keyText = (key: string): string => JSON.stringify(key);

const asRows = <T>(values: readonly T[]): T[][] => values.map((one) => [one]);

/** JSON of so many rows each: a statement of more would block the event loop for too long. */
const slices = (rows: readonly (readonly unknown[])[]): string[] =>
  Array.from({ length: Math.ceil(rows.length / rowsAtOnce) }, (_, index) =>
    JSON.stringify(rows.slice(index * rowsAtOnce, (index + 1) * rowsAtOnce)),
  );

const rowsAtOnce = 500;
