import type { PostgresDatabase } from './database.ts';

/** The passes of all processes together. */
export interface FleetFacts {
  /** Passes whose time has come and that nobody makes yet. */
  readonly due: number;
  /** Seconds for which the first of them waits. */
  readonly oldestDue: number;
  /** Clients whose last pass failed as a whole. */
  readonly failing: number;
  /** Publications of template files over which no pass has gone. */
  readonly unpassed: number;
}

/** A client's last pass, and its next one in the queue. Times are ISO 8601. */
export interface ClientPasses {
  readonly client: string;
  readonly lastPass: string | null;
  readonly status: string | null;
  readonly nextDue: string | null;
  readonly trigger: string | null;
  /** Failed passes since the last successful one. */
  readonly failures: number;
  readonly state: 'running' | 'waiting';
}

type Queries = Pick<PostgresDatabase, 'query'>;

export const fleetFacts = async ({ query }: Queries): Promise<FleetFacts> => {
  const [found] = await query<FleetFacts>(facts);
  return found ?? { due: 0, oldestDue: 0, failing: 0, unpassed: 0 };
};

/** Of all clients, the next one that is due first. */
export const clientPasses = async ({ query }: Queries): Promise<readonly ClientPasses[]> => {
  const rows = await query<PassesRow>(passes);
  return rows.map(({ nextDue, ...rest }) => ({ ...rest, nextDue: nextDue?.toISOString() ?? null }));
};

interface PassesRow extends Omit<ClientPasses, 'nextDue'> {
  readonly nextDue: Date | null;
}

const facts = `SELECT count(*) FILTER (WHERE start_after <= clock_timestamp())::int AS due,
    greatest(coalesce(extract(epoch FROM clock_timestamp() - min(start_after)), 0), 0)::float8 AS "oldestDue",
    count(*) FILTER (WHERE (data ->> 'failures')::int > 0)::int AS failing,
    (SELECT count(*)::int FROM dns_template_sync.snapshots WHERE NOT is_passed) AS unpassed
  FROM dns_template_sync_queue.job
  WHERE name = 'pass' AND state IN ('created', 'retry')`;

const passes = `SELECT coalesce(r.client, j.client) AS client, coalesce(p.pass::json ->> 2, r.body::json -> 'event' ->> 'at') AS "lastPass",
    r.body::json -> 'entry' ->> 'status' AS status, j.start_after AS "nextDue", j.data ->> 'trigger' AS trigger,
    coalesce((j.data ->> 'failures')::int, 0) AS failures,
    CASE WHEN EXISTS (SELECT FROM dns_template_sync_queue.job a WHERE a.name = 'pass' AND a.state = 'active'
      AND a.singleton_key = coalesce(r.client, j.client)) THEN 'running' ELSE 'waiting' END AS state
  FROM dns_template_sync.reports r
    LEFT JOIN dns_template_sync.repeated_passes p ON p.client = r.client AND p.report = r.number AND p.number > r.number
    FULL JOIN (SELECT singleton_key AS client, start_after, data
    FROM dns_template_sync_queue.job WHERE name = 'pass' AND state IN ('created', 'retry')) j ON j.client = r.client
  ORDER BY j.start_after NULLS LAST, client`;
