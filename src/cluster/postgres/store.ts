import { createHash } from 'node:crypto';
import type { SavedAt } from '../../model/saved-at.ts';
import type { StateStore } from '../../state/store.ts';
import { runFor, type Candidacy } from './candidacy.ts';
import { openDatabase, type PostgresDatabase } from './database.ts';
import { postgresStoreHandle } from './store-handle.ts';
import type { OnLeaseChange } from './lease.ts';
import { readPostgresMemory } from './memory.ts';
import { versionIn } from './schema.ts';
import { postgresSnapshots } from './snapshots.ts';
import { allSuspensions } from './suspensions.ts';

export interface PostgresStoreOptions {
  /** `postgres://…`, asked for when it is needed first. */
  readonly url: () => string;
  /** Most connections of this process, one of which listens. */
  readonly connections: number;
  /** Milliseconds. */
  readonly leaseDuration: number;
  /** Whether this process may be the one that publishes template files. */
  readonly mayBeSource?: boolean;
  readonly onLeaseChange?: OnLeaseChange;
}

export interface PostgresStore extends StateStore {
  /** Closed with the store. */
  readonly database: () => PostgresDatabase;
}

/** In PostgreSQL, where several processes and machines share it. */
export const postgresStore = ({
  url,
  connections,
  leaseDuration,
  mayBeSource = false,
  onLeaseChange = () => undefined,
}: PostgresStoreOptions): PostgresStore => {
  const leases = { duration: leaseDuration, onChange: onLeaseChange };
  let source: Candidacy | null = null;
  const isSource = (database: PostgresDatabase): Promise<boolean> =>
    mayBeSource ? (source ??= runFor('source', database, leases)).isElected() : Promise.resolve(false);
  let opened: PostgresDatabase | null = null;
  const open = (): PostgresDatabase => (opened ??= openDatabase(url, connections - 1));
  return {
    database: open,
    handle: (warn) => {
      const handle = postgresStoreHandle(open, leases, warn);
      return {
        ...handle,
        read: (location, ...rest) => handle.read(sharedLocation(location), ...rest),
        write: (location, ...rest) => handle.write(sharedLocation(location), ...rest),
        suspending: (location, ...rest) => handle.suspending(sharedLocation(location), ...rest),
      };
    },
    openForReading: (location) => readPostgresMemory(open(), sharedLocation(location).digest),
    suspended: async (places) => {
      const byDigest = await allSuspensions(open());
      return places.map((place) => byDigest.get(sharedLocation(place).digest) ?? []);
    },
    snapshots: postgresSnapshots(open, isSource, leaseDuration),
    forget: async (location) => {
      const database = open();
      if ((await versionIn(database.query)) === 0) return;
      const { digest } = sharedLocation(location);
      for (const table of ['templates', 'records', 'intents', 'history', 'suspensions'])
        await database.query(`DELETE FROM dns_template_sync.${table} WHERE scope = $1`, [digest]);
    },
    close: async () => {
      await source?.close();
      await opened?.close();
    },
  };
};

/** Each state directory has an embedded service of its own. */
const sharedLocation = <Place extends SavedAt>(location: Place): Place => {
  if (!location.isSandbox) return location;
  const digest = createHash('sha256')
    .update(`${location.stateDir} ${location.digest}`)
    .digest('hex')
    .slice(0, 32);
  return { ...location, digest };
};
