import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Outboxes } from '../notify/outbox.ts';
import { notifiedRows } from './notified-rows.ts';
import { SharedOutbox } from './shared-outbox.ts';
import type { PostgresStore } from './store.ts';

/**
 * Outboxes in PostgreSQL. Whoever makes a pass adds what is new in it; of all daemons the one that has run for longest
 * sends messages, and another one goes on where that one has stopped. Somebody else closes the store.
 */
export const sharedOutboxes = (
  { database, opened, lease }: Pick<PostgresStore, 'database' | 'opened' | 'lease'>,
  log: Logger,
): Outboxes => {
  const outboxes = new Set<SharedOutbox>();
  let isSaid = false;
  const tried = async (task: () => Promise<void>): Promise<boolean> => {
    try {
      await opened();
      await task();
      isSaid = false;
      return true;
    } catch (error) {
      if (!isSaid)
        log.warn(
          { event: 'notify.unsaved', reason: messageOf(error) },
          'cannot save in PostgreSQL what receivers are to be told; will retry',
        );
      isSaid = true;
      return false;
    }
  };
  return {
    of: (receiver) => {
      const rows = notifiedRows(database(), receiver);
      const outbox = new SharedOutbox({ rows, isSender: () => lease.isFirst, tried });
      outboxes.add(outbox);
      return outbox;
    },
    close: async () => void (await Promise.all([...outboxes].map((outbox) => outbox.close()))),
  };
};
