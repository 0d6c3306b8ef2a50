import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { TakeLock } from '../../state/client-locks.ts';
import { takesOver, type StoreAccess } from '../../state/store-handle.ts';
import type { SavedAt } from '../../model/saved-at.ts';
import type { PostgresDatabase } from './database.ts';
import type { Fence } from './fence.ts';
import { acquireLease, type Lease, type LeaseOptions } from './lease.ts';
import { openPostgresMemory, readPostgresMemory } from './memory.ts';
import { migratedOnce } from './schema.ts';
import { forgottenSince } from './failover.ts';

/** Memories that lie in PostgreSQL, where several processes and machines share them. */
export const postgresAccess = (
  open: () => PostgresDatabase,
  { duration, onChange }: Pick<LeaseOptions, 'duration' | 'onChange'>,
): StoreAccess => {
  // Whether a newer program has changed the tables since is asked by those who take passes from the queue.
  const opened = migratedOnce(open);
  return {
    place: () => open().place,
    read: async (location, task) => task(await readPostgresMemory(open(), shared(location))),
    writing: (location) => {
      const own = shared(location);
      const leases = new Set<Lease>();
      return {
        take: async (name, waiting) => {
          const options = { duration, ...(onChange && { onChange }) };
          return leasesOf(await opened(), options, leases)(name, waiting);
        },
        open: async (lostPause, say) => {
          const database = await opened();
          const memory = openPostgresMemory(database, own, () => fenceOf(leases));
          const before = await memory.note();
          if (before !== null) say(takesOver(before, own.name));
          const notice = await firstNotice(database);
          if (notice !== null) say(notice);
          // Who held it may have begun an add before the failover, and send it until that lease ends.
          const pause = lostPause + duration;
          const found = await forgottenSince(database, memory, own.scope, pause);
          if (found.isNew && existsSync(own.file)) say(leftIn(own.file));
          return { memory, ...found };
        },
      };
    },
    suspending: async (location, say) => {
      const own = shared(location);
      const memory = openPostgresMemory(await opened(), own);
      const before = await memory.note();
      if (before !== null) say(takesOver(before, own.name));
      return memory;
    },
  };
};

const leftIn = (file: string): string =>
  `the state in ${file} is not used with PostgreSQL, so what is suspended, writes of unknown outcome and the history are lost: suspend again what is to stay suspended`;

/** Each state directory has an embedded service of its own. */
export const shared = <Place extends SavedAt>(location: Place): Place => {
  if (!location.isSandbox) return location;
  const scope = createHash('sha256')
    .update(`${location.stateDir} ${location.scope}`)
    .digest('hex')
    .slice(0, 32);
  return { ...location, scope };
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
