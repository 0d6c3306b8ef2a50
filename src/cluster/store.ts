import { createHash } from 'node:crypto';
import { messageOf } from '../errors.ts';
import type { SavedAt } from '../model/saved-at.ts';
import { MemoryError, noMemories } from '../state/memory.ts';
import { openNotices, startsWithout, watched, type StoreHandle } from '../state/store-handle.ts';
import type { StateStore } from '../state/store.ts';
import type { StoreLocation } from '../state/store-location.ts';
import { openDatabase, type PostgresDatabase } from './database.ts';
import { deadlines, heldByCommand, heldByDaemon, type TakeClient } from './holds.ts';
import { openPostgresMemory, type PostgresMemory } from './memory.ts';
import type { Claim, KnownClient } from './owners.ts';
import { ProcessLease } from './process-lease.ts';
import { hasTables, migratedOnce } from './schema.ts';
import { suspensionsOf } from './suspensions.ts';
import { currentTimeline } from './timeline.ts';

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

/** In PostgreSQL, where several processes and machines share it. */
export const postgresStore = (options: PostgresStoreOptions): PostgresStore => {
  const { url, connections, leaseDuration, isDaemon } = options;
  let made: PostgresDatabase | null = null;
  const database = (): PostgresDatabase => (made ??= openDatabase(url, connections - 1));
  const opened = migratedOnce(database);
  const lease = new ProcessLease({ ...options, database: opened, duration: leaseDuration });
  const claims = new Map<string, Claim>();
  const take = isDaemon ? heldByDaemon(claims) : heldByCommand(opened, lease);
  const memoryOf = (location: SavedAt): PostgresMemory =>
    openPostgresMemory(database(), scopeIn(location), null);
  return {
    database,
    opened,
    lease,
    claims,
    handle: (warn) => storeHandle({ database, opened, take, lease, leaseDuration }, warn),
    openForReading: async (location) => ((await hasTables(database())) ? memoryOf(location) : null),
    suspended: async (places) => {
      const byScope = await suspensionsOf(database());
      return places.map((place) => byScope.get(scopeIn(place)) ?? []);
    },
    forget: async (location) => {
      if (!(await hasTables(database()))) return;
      for (const table of ['templates', 'records', 'journal', 'history', 'suspensions'])
        await database().query(`DELETE FROM dns_sync.${table} WHERE scope = $1`, [scopeIn(location)]);
    },
    close: async () => {
      await lease.leave();
      await made?.close();
    },
  };
};

interface Parts extends Pick<PostgresStore, 'database' | 'opened' | 'lease'> {
  readonly take: TakeClient;
  readonly leaseDuration: number;
}

const storeHandle = (
  { database, opened, take, lease, leaseDuration }: Parts,
  warn: (message: string) => void,
): StoreHandle => {
  const notices = openNotices(warn);
  return {
    read: async (location, _, task) => {
      const say = notices.begin();
      const memory = openPostgresMemory(database(), scopeIn(location), null);
      try {
        if (!(await hasTables(database()))) throw new MemoryError(`there is none in ${database().place} yet`);
        await memory.open();
      } catch (error) {
        say(`planned without saved state, so causes are unknown: ${messageOf(error)}`);
        return task(noMemories, say, null);
      }
      return task(memory, say, null);
    },
    write: async (location, { mayBeginAnew = false, unknownPause, ...waiting }, _, task) => {
      const hold = await take(clientAt(location), waiting);
      const { claim } = hold;
      const say = notices.begin();
      const { begun, ended, check } = deadlines(lease, claim);
      try {
        const memory = openPostgresMemory(await opened(), claim.scope, claim);
        // Who owned it may have begun an add before the failover, and send it until that lease ends.
        const { holdsAdds, isNew, now } = await openAfterFailover(
          database(),
          memory,
          unknownPause + leaseDuration,
        );
        for (const one of [holdsAdds, await firstNotice(database())]) if (one !== null) say(one);
        if (!location.isSandbox && !mayBeginAnew && isNew) say(startsWithout(database().place));
        const onFailure = (error: unknown): void => {
          say(messageOf(error));
          notices.forget();
        };
        const timed: PostgresMemory = {
          ...memory,
          begin: async (entry) => {
            const write = JSON.stringify(entry);
            begun(write);
            const made = await memory.begin(entry).catch((error: unknown) => {
              ended(write);
              throw error;
            });
            ended(write);
            begun(String(made.id));
            return made;
          },
          save: async (changes) => {
            await memory.save(changes);
            for (const id of [...changes.left, ...changes.entries.map((entry) => entry.id)])
              ended(String(id));
          },
        };
        return await task(watched(timed, { check }, onFailure), say, null, { check, holdsAdds, now });
      } finally {
        await hold.release();
      }
    },
    suspending: async (location, _, task) =>
      task(openPostgresMemory(await opened(), scopeIn(location), null)),
    close: () => Promise.resolve(),
  };
};

const clientAt = (location: StoreLocation): KnownClient => ({
  scope: scopeIn(location),
  baseUrl: location.baseUrl ?? 'sandbox',
  name: location.name,
});

/** Each state directory has an embedded service of its own. */
const scopeIn = ({ isSandbox, stateDir, scope }: SavedAt): string =>
  isSandbox ? createHash('sha256').update(`${stateDir} ${scope}`).digest('hex').slice(0, 32) : scope;

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
const openAfterFailover = async (
  { query }: PostgresDatabase,
  memory: PostgresMemory,
  pause: number,
): Promise<DatabaseFacts> => {
  let opening = await memory.open();
  if (opening.failover.timeline !== opening.timeline) {
    await query(noticeFailover);
    opening = await memory.open();
  }
  const { timeline, rememberedOn, failover, revisions, clockOffset } = opening;
  const now = (): number => Math.round(performance.now() + clockOffset);
  if (rememberedOn !== timeline) await memory.forgetReadings();
  const until = failover.since + pause;
  const holdsAdds =
    until > now()
      ? `PostgreSQL failed over to another server, and the newest state may be lost: no adds before ${new Date(until).toISOString()}`
      : null;
  return { holdsAdds, isNew: revisions.size === 0, now };
};

const noticeFailover = `UPDATE dns_sync.failovers SET timeline = ${currentTimeline}, since = clock_timestamp()
  WHERE timeline <> ${currentTimeline}`;

/** Notices about all clients are shown once. */
const firstNotice = async (database: PostgresDatabase): Promise<string | null> => {
  if (told.has(database)) return null;
  told.add(database);
  return replicationNotice(database);
};

const told = new WeakSet<PostgresDatabase>();

/** What a person should know of a standby that may forget what was acknowledged; null where there is none. */
const replicationNotice = async ({ query, place }: PostgresDatabase): Promise<string | null> => {
  const rows = await query("SELECT FROM pg_stat_replication WHERE sync_state = 'async'");
  const [synchronous] = await query("SELECT FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')");
  return rows.length === 0 || synchronous !== undefined
    ? null
    : `${place} has a standby, but no synchronous one (synchronous_standby_names): a failover may lose the newest state, and then adds wait for unknownPause`;
};
