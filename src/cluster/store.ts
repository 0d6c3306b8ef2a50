import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { LockedError } from '../errors.ts';
import type { SavedAt } from '../model/saved-at.ts';
import type { Lock } from '../state/lock.ts';
import { storeHandle, takesOver, type ReadStore, type StoreAccess } from '../state/store-handle.ts';
import type { StateStore } from '../state/store.ts';
import { nameLockOf, type StoreLocation } from '../state/store-location.ts';
import { renamedFrom } from './clients.ts';
import { openDatabase, type PostgresDatabase } from './database.ts';
import { deadlines, heldByCommand, heldByDaemon, type TakeClient, type WriteDeadline } from './holds.ts';
import { openPostgresMemory, type PostgresMemory } from './memory.ts';
import type { Claim, KnownClient } from './owners.ts';
import { ProcessLease } from './process-lease.ts';
import { hasTables, migratedOnce } from './schema.ts';
import { suspensionsOf } from './suspensions.ts';
import { currentTimeline, takenOver } from './timeline.ts';

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
  const access = postgresAccess({ database, opened, take, lease, leaseDuration });
  return {
    database,
    opened,
    lease,
    claims,
    handle: (warn) => storeHandle(access, warn),
    read: access.read,
    suspended: async (places) => {
      const byScope = await suspensionsOf(database());
      return places.map((place) => byScope.get(shared(place).scope) ?? []);
    },
    forget: async (location) => {
      if (!(await hasTables(database()))) return;
      for (const table of ['templates', 'records', 'journal', 'history', 'suspensions', 'compared'])
        await database().query(`DELETE FROM dns_sync.${table} WHERE scope = $1`, [shared(location).scope]);
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

const postgresAccess = ({ database, opened, take, lease, leaseDuration }: Parts): StoreAccess => {
  const read: ReadStore = async (location, task) => {
    const own = shared(location);
    if (!(await hasTables(database()))) return task(null);
    const before = await renamedFrom(database().query, own);
    const memory = openPostgresMemory(database(), own, null, before?.scope);
    await memory.open();
    return task(memory);
  };
  const writing: StoreAccess['writing'] = (location) => {
    const own = shared(location);
    let held: { readonly claim: Claim; readonly deadline: WriteDeadline } | null = null;
    return {
      // The lock of the token is none here: a template that two names manage is found out when it is compared.
      take: async (name, waiting) => {
        if (name !== nameLockOf(location)) return nothing;
        const hold = await take(clientAt(own), waiting);
        const deadline = deadlines(lease, hold.claim);
        held = { claim: hold.claim, deadline };
        return { check: deadline.check, release: () => hold.release() };
      },
      open: async (lostPause, say) => {
        if (held === null) throw takenOver();
        const { claim, deadline } = held;
        const memory = openPostgresMemory(await opened(), own, claim);
        const notice = await firstNotice(database());
        if (notice !== null) say(notice);
        // Who owned it may have begun an add before the failover, and send it until that lease ends.
        const found = await openAfterFailover(database(), memory, lostPause + leaseDuration);
        const before = await memory.note();
        if (before !== null) say(takesOver(before, own.name));
        const isNew = found.isNew && before === null;
        if (isNew && existsSync(own.file)) say(leftIn(own.file));
        return { ...found, isNew, memory: timed(memory, deadline) };
      },
    };
  };
  return {
    place: () => database().place,
    read,
    writing,
    suspending: async (location) => openPostgresMemory(await opened(), shared(location), null),
  };
};

const nothing: Lock = { check: () => undefined, release: () => Promise.resolve() };

/** The same memory, which knows the writes that are under way. */
const timed = (memory: PostgresMemory, { begun, ended }: WriteDeadline): PostgresMemory => ({
  ...memory,
  begin: async (entry) => {
    // By the renewal that is known before it.
    const key = JSON.stringify(entry);
    begun(key);
    try {
      const made = await memory.begin(entry);
      begun(String(made.id), key);
      return made;
    } finally {
      ended(key);
    }
  },
  save: async (changes) => {
    await memory.save(changes);
    for (const id of [...changes.left, ...changes.entries.map((entry) => entry.id)]) ended(String(id));
  },
});

const clientAt = ({ scope, baseUrl, name }: StoreLocation): KnownClient => ({
  scope,
  baseUrl: baseUrl ?? 'sandbox',
  name,
});

const leftIn = (file: string): string =>
  `the state in ${file} is not used with PostgreSQL, so what is suspended, writes of unknown outcome and the history are lost: suspend again what is to stay suspended`;

/** Each state directory has an embedded service of its own. */
const shared = <Place extends SavedAt>(location: Place): Place => {
  if (!location.isSandbox) return location;
  const text = `${location.stateDir} ${location.scope}`;
  return { ...location, scope: createHash('sha256').update(text).digest('hex').slice(0, 32) };
};

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
  const { timeline, rememberedOn, failover, revisions, clockOffset, sharedWith } = opening;
  if (sharedWith !== null) throw new LockedError(`another pass for this client is running: ${sharedWith}`);
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
    : `${place} has a standby, but no synchronous one (synchronous_standby_names): a failover may lose the newest state, and then adds wait as after a lost state`;
};
