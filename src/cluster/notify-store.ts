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
  table,
  query: async (sql, values) => {
    await opened();
    return database().query(sql, values);
  },
  transaction: async (task) => {
    await opened();
    return database().transaction(async (query) => {
      await query(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
      return task(query);
    });
  },
  isSender: () => lease.isFirst,
  hasClient: () => true,
  isShared: true,
  close: () => Promise.resolve(),
});

const table = 'dns_sync.notified';
