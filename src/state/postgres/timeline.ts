import type { ClientMemory } from '../client-memory.ts';
import type { Database } from './database.ts';

/** Another one since a standby took over: then what was acknowledged last may be forgotten. */
export const currentTimeline = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)';

/**
 * Why there may be adds that nobody remembers; null where there can be none. Where PostgreSQL was failed over since the
 * last pass under this lease, readings made before count no more, and no add is sent for a while: one whose intent is
 * forgotten may still be on its way.
 */
export const forgottenSince = async (
  { query }: Database,
  memory: ClientMemory,
  lease: string,
  pause: number,
): Promise<string | null> => {
  const [row] = await query<{ isOther: boolean }>(
    `SELECT timeline <> ${currentTimeline} AS "isOther" FROM dns_template_sync.leases WHERE name = $1`,
    [lease],
  );
  if (row?.isOther === true) {
    for (const facts of await memory.templates())
      await memory.save({ facts: { ...facts, lastReading: null }, records: [], forgotten: [] });
    await query(
      `UPDATE dns_template_sync.leases SET timeline = ${currentTimeline},
         quiet_until = clock_timestamp() + $2 * interval '1 millisecond' WHERE name = $1`,
      [lease, pause],
    );
  }
  const [quiet] = await query<{ until: Date }>(
    'SELECT quiet_until AS until FROM dns_template_sync.leases WHERE name = $1 AND quiet_until > clock_timestamp()',
    [lease],
  );
  return quiet === undefined
    ? null
    : `PostgreSQL was failed over to another server, and what was remembered last may be forgotten: no adds before ${quiet.until.toISOString()}`;
};
