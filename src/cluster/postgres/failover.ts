import { takenOver, currentTimeline } from './fence.ts';
import type { PostgresDatabase } from './database.ts';
import type { PostgresMemory } from './memory.ts';
import { nameLockOf } from '../../state/store-location.ts';

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
 * The first process to see another timeline notes it. From then on no add is sent for `pause` milliseconds, for one whose
 * intent is forgotten may still be on its way; and readings that were made before the failover count no more.
 */
export const forgottenSince = async (
  { query }: PostgresDatabase,
  memory: PostgresMemory,
  scope: string,
  pause: number,
): Promise<DatabaseFacts> => {
  let opening = await memory.opening();
  if (opening.failover.timeline !== opening.timeline) {
    await query(noticeFailover);
    opening = await memory.opening('anew');
  }
  const { timeline, leaseTimeline, failover, revisions, clockOffset } = opening;
  const now = (): number => Math.round(performance.now() + clockOffset);
  if (leaseTimeline === null) throw takenOver();
  if (leaseTimeline !== timeline) {
    for (const row of await memory.templates())
      await memory.save({
        row: { ...row, lastReading: null },
        records: [],
        forgotten: [],
        entries: [],
        left: [],
        history: [],
      });
    await query(`UPDATE dns_template_sync.leases SET timeline = ${currentTimeline} WHERE name = $1`, [
      nameLockOf({ scope }),
    ]);
  }
  const until = failover.since + pause;
  const holdsAdds =
    until > now()
      ? `PostgreSQL failed over to another server, and the newest state may be lost: no adds before ${new Date(until).toISOString()}`
      : null;
  return { holdsAdds, isNew: revisions.size === 0, now };
};

export const noticeFailover = `UPDATE dns_template_sync.failovers SET timeline = ${currentTimeline}, since = clock_timestamp()
  WHERE timeline <> ${currentTimeline}`;
