import { messageOf } from '../../errors.ts';
import { holdClient, type TakeLock } from '../../state/client-locks.ts';
import type { ClientMemory } from '../../state/client-memory.ts';
import {
  actAsOwner,
  startsWithout,
  watched,
  type StoreHandle,
  type Say,
  openNotices,
} from '../../state/store-handle.ts';
import { MemoryError, noMemories } from '../../state/memory.ts';
import type { PostgresDatabase } from './database.ts';
import type { Fence } from './fence.ts';
import { acquireLease, type Lease, type LeaseOptions } from './lease.ts';
import { openPostgresMemory, readPostgresMemory } from './memory.ts';
import { migratedOnce } from './schema.ts';
import { forgottenSince } from './failover.ts';

/** Memories that lie in PostgreSQL, where several processes and machines share them. */
export const postgresStoreHandle = (
  open: () => PostgresDatabase,
  { duration, onChange }: Pick<LeaseOptions, 'duration' | 'onChange'>,
  warn: (message: string) => void,
): StoreHandle => {
  const notices = openNotices(warn);
  // Whether a newer program has changed the tables since is asked by those who take passes from the queue.
  const opened = migratedOnce(open);
  return {
    read: async (location, list, task) => {
      const say = notices.begin();
      let memory: ClientMemory;
      try {
        memory = await openForReading(open(), location.digest);
      } catch (error) {
        say(`planned without saved state, so causes are unknown: ${messageOf(error)}`);
        return task(noMemories, say, null);
      }
      const { listing } = await actAsOwner(memory, location, list, say);
      return task(memory, say, listing);
    },
    write: async (location, { mayBeginAnew = false, unknownPause, ...waiting }, list, task) => {
      let say: Say = () => undefined;
      const database = await opened();
      const leases = new Set<Lease>();
      const memory = openPostgresMemory(database, location.digest, () => fenceOf(leases));
      const { locks, scope, isDecided, listing, notice } = await holdClient(location, waiting, list, {
        take: leasesOf(database, { duration, ...(onChange && { onChange }) }, leases),
        onFirst: () => (say = notices.begin()),
        use: (lookAround) => lookAround(memory),
      });
      try {
        // Who held it may have begun an add before the failover, and send it until that lease ends.
        const pause = unknownPause + duration;
        const { holdsAdds, isNew, now } = await forgottenSince(database, memory, scope, pause);
        for (const one of [holdsAdds, await firstNotice(database), notice]) if (one !== null) say(one);
        if (!location.isSandbox && isDecided && !mayBeginAnew && isNew) say(startsWithout(database.place));
        const onFailure = (error: unknown): void => {
          say(messageOf(error));
          notices.forget();
        };
        return await task(watched(memory, locks, onFailure), say, listing, {
          check: locks.check,
          holdsAdds,
          now,
        });
      } finally {
        await locks.release();
      }
    },
    suspending: async (location, list, task) => {
      const memory = openPostgresMemory(await opened(), location.digest);
      await actAsOwner(memory, location, list, warn);
      return task(memory);
    },
    close: () => Promise.resolve(),
  };
};

/** Throws `MemoryError` if there is no state yet. */
const openForReading = async (database: PostgresDatabase, digest: string): Promise<ClientMemory> => {
  const memory = await readPostgresMemory(database, digest);
  if (memory === null) throw new MemoryError(`there is none in ${database.place} yet`);
  return memory;
};

/** Notices about all clients are shown once. */
const firstNotice = async (database: PostgresDatabase): Promise<string | null> => {
  if (told.has(database)) return null;
  told.add(database);
  return replicationNotice(database);
};

const told = new WeakSet<PostgresDatabase>();

const fenceOf = (leases: ReadonlySet<Lease>): Fence => ({
  names: [...leases].map(({ name }) => name),
  tokens: [...leases].map(({ token }) => token),
});

const leasesOf =
  (
    database: PostgresDatabase,
    options: Pick<LeaseOptions, 'duration' | 'onChange'>,
    held: Set<Lease>,
  ): TakeLock =>
  async (name, waiting) => {
    const lease = await acquireLease(database, { ...waiting, ...options, name });
    held.add(lease);
    return {
      check: lease.check,
      release: async () => {
        held.delete(lease);
        await lease.release();
      },
    };
  };

/** What a person should know of a standby that may forget what was acknowledged; null where there is none. */
const replicationNotice = async ({ query, place }: PostgresDatabase): Promise<string | null> => {
  const rows = await query("SELECT FROM pg_stat_replication WHERE sync_state = 'async'");
  const [synchronous] = await query("SELECT FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')");
  return rows.length === 0 || synchronous !== undefined
    ? null
    : `${place} has a standby, but no synchronous one (synchronous_standby_names): a failover may lose the newest state, and then adds wait for unknownPause`;
};
