import type { StoreLocation } from './store-location.ts';
import type { Query, Rows, Statements } from './tables.ts';

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
export const comparedByOthers = async (
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

/** The same, and notes that this client compares the others now, unless that was noted within the last hour. */
export const compare = async (
  { sql, ask, change, now, life }: Rows,
  location: StoreLocation,
  templateIds: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  const { scope, baseUrl } = location;
  if (baseUrl === null) return new Map();
  const at = await now();
  const noted = notedAt.get(`${life()} ${scope}`) ?? new Map<number, number>();
  notedAt.set(`${life()} ${scope}`, noted);
  const isNoted = (id: number): boolean => {
    const age = at - (noted.get(id) ?? -Infinity);
    return age >= 0 && age < hour;
  };
  if (templateIds.every(isNoted)) return new Map();
  if (templateIds.some((id) => !noted.has(id))) {
    const saved = await ask((query) => query<Compared>(sql.compared, [scope, at - hour, at]));
    for (const row of saved) noted.set(Number(row.id), Number(row.at));
  }
  const left = templateIds.filter((id) => !isNoted(id));
  if (left.length === 0) return new Map();
  const others = await change(async (query) => {
    await query(sql.compare, [baseUrl, listOf(left), scope, at, at - day, at + day]);
    return comparedByOthers(query, sql, location, left, at);
  });
  for (const id of left) if (!others.has(id)) noted.set(id, at);
  return others;
};

interface Compared {
  readonly id: number | string;
  readonly at: number | string;
}

/** What this process knows to be noted of each client, and when that was, by the clock of the store. */
const notedAt = new Map<string, Map<number, number>>();

const listOf = (ids: readonly number[]): string => JSON.stringify(ids.map((id) => [id]));

/** Milliseconds. */
const hour = 3_600_000;
const day = 24 * hour;
