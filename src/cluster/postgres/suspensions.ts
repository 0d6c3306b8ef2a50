import {
  inEffectByKey,
  isEndedBy,
  isInEffect,
  suspensionKey,
  suspensionsFrom,
  type Suspension,
  type Suspensions,
} from '../../model/suspension.ts';
import { parse } from './clients.ts';
import { isMissingTable, type PostgresDatabase, type Query } from './database.ts';
import { requireSuspensions } from './schema.ts';

/** Of one client, by the clock of the database. */
export const suspensionsIn = (
  { query, transaction }: Pick<PostgresDatabase, 'query' | 'transaction'>,
  scope: string,
): Suspensions => ({
  suspensions: () => inEffect(query, scope).catch(noneWithoutTable),
  suspend: (request) =>
    transaction(async (run) => {
      await requireSuspensions(run);
      const now = await timeOf(run);
      const made = suspensionsFrom(request, now);
      await run(queries.suspend, [scope, made.map(suspensionKey), made.map((one) => JSON.stringify(one))]);
      return made;
    }),
  resume: (templates) =>
    transaction(async (run) => {
      const ended = (await inEffect(run, scope)).filter((one) => isEndedBy(one, templates));
      await run(queries.resume, [scope, ended.map(suspensionKey)]);
      return ended;
    }),
});

/** Those of all clients, by the key of their state. */
export const allSuspensions = async ({
  query,
}: Pick<PostgresDatabase, 'query'>): Promise<ReadonlyMap<string, readonly Suspension[]>> => {
  const rows = await query<SavedSuspension & { scope: string }>(queries.all).catch(noneWithoutTable);
  const saved = rows.map(({ scope, body }) => ({ key: scope, suspension: parse<Suspension>(body) }));
  return inEffectByKey(saved, rows[0]?.now ?? 0);
};

const inEffect = async (query: Query, scope: string): Promise<Suspension[]> =>
  inEffectOf(await query<SavedSuspension>(queries.saved, [scope]));

interface SavedSuspension {
  readonly body: string;
  /** The time by the clock of the database. */
  readonly now: number;
}

const inEffectOf = (rows: readonly SavedSuspension[]): Suspension[] =>
  rows.flatMap(({ body, now }) => [parse<Suspension>(body)].filter((one) => isInEffect(one, now)));

/** An older version made the tables, and knows of none. */
const noneWithoutTable = (error: unknown): never[] => {
  if (isMissingTable(error)) return [];
  throw error;
};

const timeOf = async (query: Query): Promise<number> => {
  const [row] = await query<{ now: number }>(`SELECT ${clock} AS now`);
  return row!.now;
};

const clock = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::float8';

const queries = {
  saved: `SELECT body, ${clock} AS now FROM dns_template_sync.suspensions WHERE scope = $1 ORDER BY key`,
  all: `SELECT scope, body, ${clock} AS now FROM dns_template_sync.suspensions ORDER BY scope, key`,
  suspend: `INSERT INTO dns_template_sync.suspensions (scope, key, body)
    SELECT $1, key, body FROM unnest($2::text[], $3::text[]) AS made (key, body)
    ON CONFLICT (scope, key) DO UPDATE SET body = excluded.body`,
  resume: 'DELETE FROM dns_template_sync.suspensions WHERE scope = $1 AND key = ANY ($2::text[])',
} as const;
