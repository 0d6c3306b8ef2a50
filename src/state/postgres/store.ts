import { createHash } from 'node:crypto';
import type { MemoryPlace } from '../memory-place.ts';
import type { StateStore } from '../store.ts';
import { openDatabase, type PostgresDatabase } from './database.ts';
import { createPostgresKeeper } from './keeper.ts';
import { openPostgresMemory } from './memory.ts';
import { versionIn } from './schema.ts';
import { postgresSnapshots } from './snapshots.ts';
import { standAsSource, type SourceLease } from './source-lease.ts';

export interface PostgresStoreOptions {
  /** `postgres://…`, asked for when it is needed first. */
  readonly url: () => string;
  /** Milliseconds. */
  readonly leaseDuration: number;
  /** Whether this process may be the one that publishes template files. */
  readonly mayBeSource?: boolean;
}

/** In PostgreSQL, where several processes and machines share it. */
export const postgresStore = ({
  url,
  leaseDuration,
  mayBeSource = false,
}: PostgresStoreOptions): StateStore => {
  let source: SourceLease | null = null;
  const isSource = (database: PostgresDatabase): Promise<boolean> =>
    mayBeSource ? (source ??= standAsSource(database, leaseDuration)).isSource() : Promise.resolve(false);
  let opened: PostgresDatabase | null = null;
  const open = (): PostgresDatabase => (opened ??= openDatabase(url()));
  return {
    keeper: (warn) => {
      const keeper = createPostgresKeeper(open, leaseDuration, warn);
      return {
        ...keeper,
        read: (place, ...rest) => keeper.read(sharedPlace(place), ...rest),
        write: (place, ...rest) => keeper.write(sharedPlace(place), ...rest),
      };
    },
    openForReading: async (place) => {
      const database = open();
      if ((await versionIn(database.query)) === 0) return null;
      return openPostgresMemory(database, sharedPlace(place).digest);
    },
    snapshots: postgresSnapshots(open, isSource),
    forget: async (place) => {
      const database = open();
      if ((await versionIn(database.query)) === 0) return;
      const { digest } = sharedPlace(place);
      for (const table of ['templates', 'records', 'intents', 'history'])
        await database.query(`DELETE FROM dns_template_sync.${table} WHERE scope = $1`, [digest]);
    },
    close: async () => {
      await source?.close();
      await opened?.close();
    },
  };
};

/** Each state directory has an embedded service of its own. */
const sharedPlace = (place: MemoryPlace): MemoryPlace => {
  if (!place.isSandbox) return place;
  const digest = createHash('sha256').update(`${place.stateDir} ${place.digest}`).digest('hex').slice(0, 32);
  return { ...place, digest };
};
