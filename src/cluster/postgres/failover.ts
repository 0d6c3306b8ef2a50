import type { ClientMemory } from '../../state/client-memory.ts';
import type { PostgresDatabase } from './database.ts';
import { scopeLockOf } from '../../state/store-location.ts';
import { takenOver } from './fence.ts';
import { currentTimeline } from './timeline.ts';

/** What a writing pass has to know of the database. */
interface DatabaseFacts {
  /** Why there may be adds that nobody remembers; null where there can be none. */
  readonly holdsAdds: string | null;
  /** Nothing is known of the client. */
  readonly isNew: boolean;
  /** The time by its clock, in ms since the epoch, which is that of all machines. */
  readonly now: () => number;
}

/**
 * A failover is noticed by whoever comes first
 * after it. From then on no add is sent for `pause` milliseconds, for one whose intent is forgotten may still be on its
 * way; and readings that were made before the failover count no more.
 */
export const forgottenSince = async (
  { query }: PostgresDatabase,
  memory: ClientMemory,
  scope: string,
  pause: number,
): Promise<DatabaseFacts> => {
  const lease = scopeLockOf(scope);
  const look = async (): Promise<FailoverRow | undefined> =>
    (await query<FailoverRow>(facts, [lease, pause, scope]))[0];
  let failover = await look();
  if (failover?.isUnnoticed === true) {
    await query(noticeFailover);
    failover = await look();
  }
  const offset = Number(failover?.now) - performance.now();
  if (failover === undefined) throw takenOver();
  if (failover.isOther) {
    for (const row of await memory.templates())
      await memory.save({ row: { ...row, lastReading: null }, records: [], forgotten: [] });
    await query(`UPDATE dns_template_sync.leases SET timeline = ${currentTimeline} WHERE name = $1`, [lease]);
  }
  const holdsAdds = failover.isQuiet
    ? `PostgreSQL failed over to another server, and the newest state may be lost: no adds before ${failover.until.toISOString()}`
    : null;
  return { holdsAdds, isNew: !failover.isFilled, now: () => Math.round(performance.now() + offset) };
};

interface FailoverRow {
  readonly isUnnoticed: boolean;
  readonly isFilled: boolean;
  readonly isOther: boolean;
  readonly until: Date;
  readonly isQuiet: boolean;
  readonly now: number;
}

export const noticeFailover = `UPDATE dns_template_sync.failovers SET timeline = ${currentTimeline}, since = clock_timestamp()
  WHERE timeline <> ${currentTimeline}`;

const facts = `SELECT f.timeline <> current AS "isUnnoticed", l.timeline <> current AS "isOther", until, until > clock_timestamp() AS "isQuiet",
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
    EXISTS (SELECT FROM dns_template_sync.templates t WHERE t.scope = $3) AS "isFilled"
  FROM dns_template_sync.leases AS l, dns_template_sync.failovers AS f, (SELECT ${currentTimeline} AS current) AS server,
    LATERAL (SELECT f.since + $2 * interval '1 millisecond' AS until) AS own WHERE l.name = $1`;
