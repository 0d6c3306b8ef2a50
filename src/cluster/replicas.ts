import { hostname } from 'node:os';
import type { PostgresDatabase } from './database.ts';

/** A process that takes part. */
export interface Replica {
  readonly id: string;
  readonly role: string;
  /** Its process and machine. */
  readonly place: string;
  readonly version: string;
  /** ISO 8601, by the clock of the database. */
  readonly since: string;
}

export interface Replicas {
  /** Announces this process, for so many milliseconds. */
  renew(duration: number): Promise<void>;
  /** Whether there is another process that makes passes. */
  hasOtherWorkers(): Promise<boolean>;
  /** Removes this process. */
  leave(): Promise<void>;
}

export const replicasOf = (
  { query }: Pick<PostgresDatabase, 'query'>,
  { id, role, version }: Pick<Replica, 'id' | 'role' | 'version'>,
): Replicas => ({
  renew: async (duration) => {
    const place = `process ${process.pid} on ${hostname()}`;
    await query(renew, [id, role, place, version, duration]);
    await query(
      "DELETE FROM dns_template_sync.replicas WHERE alive_until < clock_timestamp() - interval '1 day'",
    );
  },
  hasOtherWorkers: async () => (await query(otherWorkers, [id])).length > 0,
  leave: async () => void (await query('DELETE FROM dns_template_sync.replicas WHERE id = $1', [id])),
});

/** Those that are alive, the oldest first. */
export const aliveReplicas = async ({
  query,
}: Pick<PostgresDatabase, 'query'>): Promise<readonly Replica[]> => {
  const rows = await query<Omit<Replica, 'since'> & { readonly since: Date }>(alive);
  return rows.map(({ since, ...rest }) => ({ ...rest, since: since.toISOString() }));
};

const renew = `INSERT INTO dns_template_sync.replicas (id, role, place, version, since, alive_until)
  VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp() + $5 * interval '1 millisecond')
  ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until`;

const otherWorkers = `SELECT FROM dns_template_sync.replicas
  WHERE id <> $1 AND role IN ('all', 'worker') AND alive_until > clock_timestamp() LIMIT 1`;

const alive = `SELECT id, role, place, version, since FROM dns_template_sync.replicas
  WHERE alive_until > clock_timestamp() ORDER BY since, id`;
