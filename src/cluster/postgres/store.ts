import { storeHandle } from '../../state/store-handle.ts';
import type { StateStore } from '../../state/store.ts';
import { runFor, type Candidacy } from './candidacy.ts';
import { openDatabase, type PostgresDatabase } from './database.ts';
import { postgresAccess, shared } from './store-handle.ts';
import type { OnLeaseChange } from './lease.ts';
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
  const access = postgresAccess(open, leases);
  return {
    database: open,
    handle: (warn) => storeHandle(access, warn),
    read: access.read,
    suspended: async (places) => {
      const byScope = await allSuspensions(open());
      return places.map((place) => byScope.get(shared(place).scope) ?? []);
    },
    snapshots: postgresSnapshots(open, isSource, leaseDuration),
    forget: async (location) => {
      const database = open();
      if ((await versionIn(database.query)) === 0) return;
      const { scope } = shared(location);
      for (const table of ['templates', 'records', 'journal', 'history', 'suspensions'])
        await database.query(`DELETE FROM dns_template_sync.${table} WHERE scope = $1`, [scope]);
    },
    close: async () => {
      await source?.close();
      await opened?.close();
    },
  };
};
