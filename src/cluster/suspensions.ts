import {
  isEndedBy,
  isInEffect,
  suspensionKey,
  suspensionsFrom,
  type Suspension,
  type Suspensions,
} from '../model/suspension.ts';
import { isMissingTable, type PostgresDatabase, type Query } from './database.ts';
import { milliseconds } from './timeline.ts';

/** Of one client, by the clock of the database. */
export const suspensionsIn = (
  { query, transaction }: Pick<PostgresDatabase, 'query' | 'transaction'>,
  scope: string,
): Suspensions => ({
  suspensions: async () => (await inEffect(query, scope)).map(({ suspension }) => suspension),
  suspend: (request) =>
    transaction(async (run) => {
      const [row] = await run<{ now: number }>(`SELECT ${clock} AS now`);
      const made = suspensionsFrom(request, row!.now);
      const bodies = made.map((one) => JSON.stringify(one));
      await run(sql.suspend, [scope, made.map(suspensionKey), bodies]);
      return made;
    }),
  resume: (templates) =>
    transaction(async (run) => {
      const saved = (await inEffect(run, scope)).map(({ suspension }) => suspension);
      const ended = saved.filter((one) => isEndedBy(one, templates));
      await run(sql.resume, [scope, ended.map(suspensionKey)]);
      return ended;
    }),
});

/** Those of all clients, by their scopes. */
export const suspensionsOf = async ({
  query,
}: Pick<PostgresDatabase, 'query'>): Promise<ReadonlyMap<string, readonly Suspension[]>> => {
  const byScope = new Map<string, Suspension[]>();
  for (const { scope, suspension } of await inEffect(query, null))
    byScope.set(scope, [...(byScope.get(scope) ?? []), suspension]);
  return byScope;
};

interface SavedSuspension {
  readonly scope: string;
  readonly body: string;
  /** The time by the clock of the database. */
  readonly now: number;
}

const inEffect = async (
  query: Query,
  /** Null: of all. */
  scope: string | null,
): Promise<{ readonly scope: string; readonly suspension: Suspension }[]> => {
  const rows = await query<SavedSuspension>(sql.saved, [scope]).catch((error: unknown) => {
    // Nothing was suspended before there were tables.
    if (isMissingTable(error)) return [];
    throw error;
  });
  return rows.flatMap(({ scope: own, body, now }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own, by the schema version
    const suspension = JSON.parse(body) as Suspension;
    return isInEffect(suspension, now) ? { scope: own, suspension } : [];
  });
};

const clock = `floor(${milliseconds('clock_timestamp()')})`;

const sql = {
  saved: `SELECT scope, body, ${clock} AS now FROM dns_sync.suspensions 
    WHERE $1::text IS NULL OR scope = $1 ORDER BY scope, key`,
  suspend: `INSERT INTO dns_sync.suspensions (scope, key, body)
    SELECT $1, key, body FROM unnest($2::text[], $3::text[]) AS made (key, body)
    ON CONFLICT (scope, key) DO UPDATE SET body = excluded.body`,
  resume: 'DELETE FROM dns_sync.suspensions WHERE scope = $1 AND key = ANY ($2::text[])',
} as const;
