import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Outboxes } from '../notify/outbox.ts';
import { runFor, type Candidacy } from './postgres/candidacy.ts';
import type { OnLeaseChange } from './postgres/lease.ts';
import type { PostgresDatabase } from './database.ts';
import { migratedOnce } from './postgres/schema.ts';
import { notifiedRows } from './notified-rows.ts';
import { SharedOutbox } from './shared-outbox.ts';

export interface SharedOutboxesOptions {
  /** Somebody else closes it. */
  readonly database: PostgresDatabase;
  /** Milliseconds. */
  readonly leaseDuration: number;
  readonly onLeaseChange: OnLeaseChange;
  readonly log: Logger;
}

/**
 * Outboxes in PostgreSQL. Whoever makes a pass adds what is new in it; of all processes one at a time sends messages,
 * and another one goes on where that one has stopped.
 */
export const sharedOutboxes = ({
  database,
  leaseDuration,
  onLeaseChange,
  log,
}: SharedOutboxesOptions): Outboxes => {
  const ready = migratedOnce(() => database);
  const outboxes = new Set<SharedOutbox>();
  let sender: Candidacy | null = null;
  let isSaid = false;
  const tried = async (task: () => Promise<void>): Promise<boolean> => {
    try {
      await ready();
      sender ??= runFor('notifications', database, { duration: leaseDuration, onChange: onLeaseChange });
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
      const outbox = new SharedOutbox({
        rows: notifiedRows(database, receiver),
        isElected: async () => (await sender?.isElected()) ?? false,
        mayStillSend: () => sender?.isHeld() ?? false,
        tried,
      });
      outboxes.add(outbox);
      return outbox;
    },
    close: async () => {
      await Promise.all([...outboxes].map((outbox) => outbox.close()));
      await sender?.close();
    },
  };
};
