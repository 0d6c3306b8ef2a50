import type { ClientMemory } from '../client-memory.ts';
import type { PostgresDatabase } from './database.ts';
import { takenOver } from './fence.ts';
import { currentTimeline } from './timeline.ts';

/**
 * Why there may be adds that nobody remembers; null where there can be none. A failover is noticed by whoever comes first
 * after it. From then on no add is sent for `pause` milliseconds, for one whose intent is forgotten may still be on its
 * way; and readings that were made before the failover count no more.
 */
export const forgottenSince = async (
  { query }: PostgresDatabase,
  memory: ClientMemory,
  lease: string,
  pause: number,
): Promise<string | null> => {
  await query(noticeFailover);
  const [failover] = await query<{ isOther: boolean; until: Date; isQuiet: boolean }>(quiet, [lease, pause]);
  if (failover === undefined) throw takenOver();
  if (failover.isOther) {
    for (const row of await memory.templates())
      await memory.save({ row: { ...row, lastReading: null }, records: [], forgotten: [] });
    await query(`UPDATE dns_template_sync.leases SET timeline = ${currentTimeline} WHERE name = $1`, [lease]);
  }
  return failover.isQuiet
    ? `PostgreSQL failed over to another server, and the newest state may be lost: no adds before ${failover.until.toISOString()}`
    : null;
};

export const noticeFailover = `UPDATE dns_template_sync.failovers SET timeline = ${currentTimeline}, since = clock_timestamp()
  WHERE timeline <> ${currentTimeline}`;

const quiet = `SELECT l.timeline <> ${currentTimeline} AS "isOther", until, until > clock_timestamp() AS "isQuiet"
  FROM dns_template_sync.leases AS l, dns_template_sync.failovers AS f,
    LATERAL (SELECT f.since + $2 * interval '1 millisecond' AS until) AS own WHERE l.name = $1`;
