import type { NotifyStore } from '../notify/outbox.ts';
import type { PostgresStore } from './store.ts';

/**
 * The one that processes share. Whoever makes a pass adds what is new in it; of all daemons the one that has run for
 * longest sends messages, and another one goes on where that one has stopped. Somebody else closes the store.
 */
export const sharedNotifyStore = ({
  database,
  opened,
  lease,
}: Pick<PostgresStore, 'database' | 'opened' | 'lease'>): NotifyStore => ({
  schema: 'dns_sync.',
  query: async (sql, values) => {
    await opened();
    return database().query(sql, values);
  },
  transaction: async (task) => {
    await opened();
    return database().transaction(task);
  },
  lookInterval: 5_000,
  now: async (query) => {
    const sql = 'SELECT round(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';
    const [row] = await query<{ readonly now: number }>(sql);
    return row?.now ?? NaN;
  },
  isSender: () => lease.isFirst,
  isMine: () => 'true',
  close: () => Promise.resolve(),
});
