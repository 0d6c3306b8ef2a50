import { existsSync } from 'node:fs';
import { LockedError } from '../errors.ts';
import { sleep } from '../lib/sleep.ts';
import { allSuspensions, clientMemory, readableMemory } from '../state/client-memory.ts';
import type { Waiting } from '../state/lock.ts';
import { takeOver, type StateStore } from '../state/store-handle.ts';
import type { StoreLocation } from '../state/store-location.ts';
import { isMissingTable, openDatabase, type PostgresDatabase } from './database.ts';
import { ProcessLease } from './lease.ts';
import { tell } from './listen.ts';
import { claimedTables, tablesIn } from './memory.ts';
import { addClients, claimForCommand, releaseClients, type Claim } from './owners.ts';
import { hasTables, withTables } from './schema.ts';

export interface PostgresStoreOptions {
  /** `postgres://…`, asked for when it is needed first. */
  readonly url: () => string;
  /** Most connections of this process, one of which listens. */
  readonly connections: number;
  /** Milliseconds. */
  readonly leaseDuration: number;
  /** A daemon writes for the clients that it owns; a command asks for them. */
  readonly isDaemon: boolean;
  readonly version: string;
  /** Of the page. */
  readonly address: string | null;
}

export interface PostgresStore extends StateStore {
  /** Closed with the store. */
  readonly database: () => PostgresDatabase;
  /** The same, with the tables. */
  readonly opened: () => Promise<PostgresDatabase>;
  readonly lease: ProcessLease;
  /** What a daemon owns, by the scope of the client. */
  readonly claims: Map<string, Claim>;
}

/** In PostgreSQL, where several processes and machines share it. The embedded service has a store of its own. */
export const postgresStore = (options: PostgresStoreOptions): PostgresStore => {
  const { url, connections, leaseDuration, isDaemon } = options;
  let made: PostgresDatabase | null = null;
  const database = (): PostgresDatabase => (made ??= openDatabase(url, connections - 1));
  const opened = withTables(database);
  const lease = new ProcessLease({ ...options, database: opened, duration: leaseDuration });
  const claims = new Map<string, Claim>();

  return {
    database,
    opened,
    lease,
    claims,
    place: () => database().place,
    tables: () =>
      tablesIn({
        ...database(),
        query: async (...what) => (await opened()).query(...what),
        transaction: async (task) => (await opened()).transaction(task),
      }),
    read: async (location, task) => {
      if (!(await hasTables(database()))) return task(null);
      return task(await readableMemory(claimedTables(database(), location, null), location));
    },
    // The lock of the token is none here: a template that two names manage is found out when it is compared.
    take: async (location, waiting) => {
      const claim = isDaemon
        ? claims.get(location.scope)
        : await claimWaiting(await opened(), lease, location, waiting);
      if (claim === undefined) throw new LockedError('another process makes the passes of this client');
      const deadline = lease.deadline(claim.process);
      return {
        check: deadline.check,
        // What a daemon owns it has until it gives it up.
        release: async () => void (isDaemon || (await giveBack(await opened(), lease, location.scope))),
        open: async (lostPause, say) => {
          const tables = claimedTables(await opened(), location, { ...claim, deadline });
          const memory = clientMemory(tables, location);
          await takeOver(memory, location, say);
          const isNew = await memory.isNew();
          if (isNew && existsSync(location.file)) say(leftIn(location.file));
          const { failedOverAt, offset } = tables.opened();
          const now = (): number => Math.round(performance.now() + offset);
          // Who owned it may have begun an add before the failover, and send it until that lease ends.
          const until = failedOverAt + lostPause + leaseDuration;
          const holdsAdds =
            until > now()
              ? `PostgreSQL failed over to another server or was restored, and the newest state may be lost: suspend again what is to stay suspended; no adds before ${new Date(until).toISOString()}`
              : null;
          return { memory, isNew, holdsAdds, now, mostLate: leaseDuration };
        },
      };
    },
    suspending: async (location) => clientMemory(claimedTables(await opened(), location, null), location),
    suspended: async (places) => {
      const byScope = await allSuspensions(tablesIn(database())).catch((error: unknown) => {
        // Nothing was suspended before there were tables.
        if (isMissingTable(error)) return new Map<string, never>();
        throw error;
      });
      return places.map(({ scope }) => byScope.get(scope) ?? []);
    },
    close: async () => {
      await lease.leave();
      await made?.close();
    },
  };
};

/** Asks the daemon that owns it to give the client up for a while. Throws `LockedError`. */
const claimWaiting = async (
  database: PostgresDatabase,
  lease: ProcessLease,
  { scope, baseUrl, name }: StoreLocation,
  { timeout, signal, onWait }: Waiting,
): Promise<Claim> => {
  await addClients(database, [{ scope, baseUrl: baseUrl ?? '', name }]);
  const end = performance.now() + timeout;
  for (let isTold = false; ; isTold = true) {
    // Its lease may have run out while it waited.
    const claimed = await claimForCommand(database, await lease.join(), scope);
    if ('epoch' in claimed) return claimed;
    if (!isTold) {
      onWait(claimed.holder);
      await tell(database, 'clients');
    }
    if (signal.aborted || performance.now() >= end) {
      await giveBack(database, lease, scope);
      throw new LockedError(`another pass for this client is running: ${claimed.holder}`);
    }
    await sleep(interval, signal);
  }
};

/** Milliseconds. */
const interval = 100;

/** What cannot be given back runs out by itself. */
const giveBack = async (database: PostgresDatabase, lease: ProcessLease, scope: string): Promise<void> => {
  const process = await lease.join();
  const given = releaseClients(database, process, [scope]).then(() => tell(database, 'clients'));
  await given.catch(() => undefined);
};

const leftIn = (file: string): string =>
  `the state in ${file} is not used with PostgreSQL, so what is suspended, writes of unknown outcome and the history are lost: suspend again what is to stay suspended`;
