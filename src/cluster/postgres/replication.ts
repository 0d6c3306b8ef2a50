import type { PostgresDatabase } from './database.ts';

/** What a person should know of a standby that may forget what was acknowledged; null where there is none. */
export const replicationNotice = async ({ query, place }: PostgresDatabase): Promise<string | null> => {
  const rows = await query("SELECT FROM pg_stat_replication WHERE sync_state = 'async'");
  const [synchronous] = await query("SELECT FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')");
  return rows.length === 0 || synchronous !== undefined
    ? null
    : `${place} has a standby, but no synchronous one (synchronous_standby_names): a failover may lose the newest state, and then adds wait for unknownPause`;
};
