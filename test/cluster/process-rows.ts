import { randomUUID } from 'node:crypto';
import { currentTimeline, type PostgresDatabase } from '../../src/cluster/database.ts';
import type { WriteDeadline } from '../../src/cluster/lease.ts';

export interface ProcessRow {
  readonly isSettled?: boolean;
  readonly isDaemon?: boolean;
  readonly aliveFor?: number;
}

/** A process as its row says it is. */
export const addProcess = async (
  { query }: PostgresDatabase,
  { isSettled = true, isDaemon = true, aliveFor = 30_000 }: ProcessRow = {},
): Promise<string> => {
  const id = randomUUID();
  await query(
    `INSERT INTO dns_sync.processes (id, is_daemon, place, version, since, alive_until, renewals, timeline)
     VALUES ($1, $2, 'a process', '1', clock_timestamp(), clock_timestamp() + $3 * interval '1 millisecond', $4, ${currentTimeline})`,
    [id, isDaemon, aliveFor, isSettled ? 1 : 0],
  );
  return id;
};

/** Of a lease that never ends. */
const nothing = (): void => undefined;
export const endless: WriteDeadline = { begun: nothing, ended: nothing, check: nothing };
