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
import type { ClientTables, OpeningRow, Query, Tables } from './tables.ts';

/** The state of one client, for a pass or another task. */
export interface OpenedClient extends ClientMemory {
  /** Whether nothing was ever learnt of it. Reads what the pass begins with. */
  isNew(): Promise<boolean>;
  /** Notes that it has this state. Returns the name of the client whose state it takes over; null if there is none. */
  note(): Promise<string | null>;
}

/** `scope`: whose rows they are, its own or those of its earlier name. */
export const clientMemory = (
  tables: ClientTables,
  location: StoreLocation,
  scope = location.scope,
): OpenedClient => {
  const { sql, ask, now, era } = tables;
  const { baseUrl } = location;
  /** While the client is ours nobody else changes it: what was read holds until this changes something. */
  let opened: Promise<Opening> | null = null;
  /** Who suspends it asks nobody, and who only reads it does not own it: then that is for the first who wants to know. */
  let suspended: readonly Suspension[] | null = null;
  let areRevisionsNew = false;
  const opening = (): Promise<Opening> =>
    (opened ??= tables.opening(scope, openingIn).then((found) => {
      suspended = found.suspensions;
      areRevisionsNew = true;
      return found;
    }));
  const changing = <T>(change: Promise<T>): Promise<T> =>
    change.finally(() => {
      opened = suspended = null;
    });
  const change: Tables['transaction'] = (task, isSynced) => changing(tables.transaction(task, isSynced));
  const bodies =
    <Body>(statement: string, of = scope) =>
    async (query: Query): Promise<Body[]> =>
      (await query<SavedBody>(statement, [of])).map((row) => bodyIn<Body>(row));
  const allSuspended = bodies<Suspension>(sql.suspensions);
  /** Until the state of a renamed client is taken over, a process that knows it by its earlier name may write. */
  const allNames = async (query: Query): Promise<readonly string[]> => {
    const before = await renamedFrom(query, tables, location);
    return before === null ? [scope] : [before.scope, scope];
  };
  const others = async (
    query: Query,
    ids: readonly number[],
    at: number,
  ): Promise<ReadonlyMap<number, string>> => {
    const values = [baseUrl, listOf(ids), scope, at - day, at + day];
    const rows = await query<{ id: number | string; name: string }>(sql.comparedByOthers, values);
    return new Map(rows.map(({ id, name }) => [Number(id), name]));
  };

  return {
    isNew: async () => Object.keys((await opening()).revisions).length === 0,
    note: async () =>
      (await opening()).token === location.token
        ? null
        : change((query) => noteClient(query, tables, location)),
    template: (templateId) =>
      ask(async (query) => {
        const saved = await query<SavedBody & { isTemplate: number }>(sql.template, [scope, templateId]);
        const row = saved.find(({ isTemplate }) => isTemplate === 1);
        if (row === undefined) return null;
        const records = saved.filter((one) => one !== row);
        return { row: bodyIn(row), records: records.map((one) => bodyIn<SavedRecord>(one)) };
      }),
    templates: () => ask(bodies(sql.templates)),
    journal: async () => [...(await opening()).entries],
    history: async ({ templates = [], since = 0, outcome = null, limit }) => {
      const found: HistoryEntry[] = [];
      let [at, id, count] = [Number.MAX_SAFE_INTEGER, 0, rowsAtOnce];
      while (count === rowsAtOnce && found.length < limit) {
        const values = [scope, since, at, id, rowsAtOnce];
        const saved = await ask(async (query) =>
          (await query<SavedBody & { id: number | string }>(sql.history, values)).map((row) => ({
            entry: bodyIn<HistoryEntry>(row),
            number: Number(row.id),
          })),
        );
        for (const { entry, number } of saved) {
          [at, id] = [entry.at, number];
          const isOther = templates.length > 0 && !templates.includes(entry.template);
          if (!isOther && (outcome === null || entry.outcome === outcome)) found.push(entry);
        }
        count = saved.length;
        await yieldToOthers();
      }
      return found.slice(0, limit).toReversed();
    },
    begin: async (entry) => {
      const id = await changing(tables.begin(scope, JSON.stringify(entry)));
      return { ...entry, id };
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
      tables.ended([...left, ...entries.map(({ id }) => id)]);
    },
    suspensions: async () => {
      const known = suspended ?? (await ask(allSuspended));
      suspended = null;
      const at = await now();
      return known.filter((one) => isInEffect(one, at));
    },
    suspend: async (request) => {
      const made = suspensionsFrom(request, await now());
      return change(async (query) => {
        for (const name of await allNames(query))
          for (const one of made) await query(sql.suspend, [name, suspensionKey(one), JSON.stringify(one)]);
        return made;
      });
    },
    resume: async (templates) => {
      const at = await now();
      return change(async (query) => {
        const ended = new Map<string, Suspension>();
        for (const name of await allNames(query))
          for (const one of await bodies<Suspension>(sql.suspensions, name)(query)) {
            if (!isInEffect(one, at) || !isEndedBy(one, templates)) continue;
            ended.set(suspensionKey(one), one);
            await query(sql.resume, [name, suspensionKey(one)]);
          }
        return [...ended.values()];
      });
    },
    revisions: async () => {
      if (!areRevisionsNew) opened = null;
      const { revisions } = await opening();
      areRevisionsNew = false;
      return { of: (id) => `${scope} ${id in revisions ? `${era()} ${revisions[id]}` : 'none'}` };
    },
    comparedByOthers: async (ids) =>
      baseUrl === null || ids.length === 0 ? new Map() : others(tables.query, ids, await now()),
    // While its own note of a template is young, nobody else's can be there.
    compare: async (ids) => {
      const { compared } = await opening();
      const at = await now();
      const left = ids.filter((id) => Math.abs(at - (compared[id] ?? -Infinity)) >= hour);
      if (baseUrl === null || left.length === 0) return new Map();
      // It changes nothing that the pass began with.
      return tables.transaction(async (query) => {
        await query(sql.compare, [baseUrl, listOf(left), scope, at, at - day, at + day]);
        return others(query, left, at);
      }, false);
    },
  };
};

/** What a pass needs to know before it compares anything. */
interface Opening {
  readonly entries: readonly Entry[];
  readonly suspensions: readonly Suspension[];
  /** By template. */
  readonly revisions: Readonly<Record<string, number>>;
  /** When this client compared a template last, by the clock of the store. */
  readonly compared: Readonly<Record<string, number>>;
  /** The digest of the token that was used last; empty if there is no state. */
  readonly token: string;
}

const openingIn = (rows: readonly OpeningRow[]): Opening => {
  const of = (wanted: OpeningRow['kind']): readonly OpeningRow[] =>
    rows.filter(({ kind }) => kind === wanted);
  const entries = of('entry').map((row): Entry => ({ ...bodyIn<Entry>(row), id: Number(row.id) }));
  return {
    entries: entries.toSorted((one, other) => one.id - other.id),
    suspensions: of('suspension').map((row) => bodyIn(row)),
    revisions: bodyIn(of('revisions')[0]!),
    compared: bodyIn(of('compared')[0]!),
    token: of('token')[0]?.body ?? '',
  };
};

/** For a task that reads, where nobody has noted yet that a client was renamed. */
export const readableMemory = async (
  tables: ClientTables,
  location: StoreLocation,
): Promise<OpenedClient> => {
  const before = await renamedFrom(tables.query, tables, location);
  const memory = clientMemory(tables, location, before?.scope);
  await memory.isNew();
  return memory;
};

/** Those in effect of all clients, by the scope of the client. */
export const allSuspensions = async ({
  ask,
  now,
  sql,
}: Tables): Promise<ReadonlyMap<string, readonly Suspension[]>> => {
  const all = await ask(async (query) => {
    const saved = await query<SavedBody & { scope: string }>(sql.allSuspensions);
    return saved.map((row) => ({ key: row.scope, suspension: bodyIn<Suspension>(row) }));
  });
  return inEffectByKey(all, all.length === 0 ? 0 : await now());
};

/** Whose state a client without any takes over: of a name that is not set any more, and used this token last. */
const renamedFrom = async (
  query: Query,
  { sql }: Tables,
  { scope, baseUrl, token, names }: StoreLocation,
): Promise<{ readonly scope: string; readonly name: string } | null> => {
  if (baseUrl === null) return null;
  const known = await query<{ scope: string; name: string }>(sql.renamed, [scope, baseUrl, token]);
  const gone = known.filter(({ name }) => !names.includes(name));
  return gone.length === 1 ? gone[0]! : null;
};

/** Notes who has this state and with which token, and takes over the state of a client that was renamed. */
const noteClient = async (query: Query, tables: Tables, location: StoreLocation): Promise<string | null> => {
  const { scope, baseUrl, name, token } = location;
  const { sql } = tables;
  const before = await renamedFrom(query, tables, location);
  if (before) {
    // First, so that whoever has the earlier name begins nothing after that, and what it began is seen.
    await query(sql.removeClient, [before.scope]);
    for (const table of sql.takeOver) await query(table, [scope, before.scope]);
  }
  await query(sql.noteClient, [scope, baseUrl ?? 'sandbox', name, token]);
  return before?.name ?? null;
};

interface SavedBody {
  readonly body: string;
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

const listOf = (ids: readonly number[]): string => JSON.stringify(asRows(ids));

/** JSON of so many rows each: a statement of more would block the event loop for too long. */
const slices = (rows: readonly (readonly unknown[])[]): string[] =>
  Array.from({ length: Math.ceil(rows.length / rowsAtOnce) }, (_, index) =>
    JSON.stringify(rows.slice(index * rowsAtOnce, (index + 1) * rowsAtOnce)),
  );

const rowsAtOnce = 500;

/** Milliseconds. */
const hour = 3_600_000;
const day = 24 * hour;
