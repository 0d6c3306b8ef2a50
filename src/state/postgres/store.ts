import { createHash } from 'node:crypto';
import type { MemoryPlace } from '../memory-place.ts';
import type { StateStore } from '../store.ts';
import { openDatabase, type PostgresDatabase } from './database.ts';
import { createPostgresKeeper } from './keeper.ts';
import { openPostgresMemory } from './memory.ts';
import { versionIn } from './schema.ts';

export interface PostgresStoreOptions {
  /** `postgres://…`, asked for when it is needed first. */
  readonly url: () => string;
  /** Milliseconds. */
  readonly leaseDuration: number;
}

/** In PostgreSQL, where several processes and machines share it. */
export const postgresStore = ({ url, leaseDuration }: PostgresStoreOptions): StateStore => {
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
    forget: async (place) => {
      const database = open();
      if ((await versionIn(database.query)) === 0) return;
      const { digest } = sharedPlace(place);
      for (const table of ['templates', 'records', 'intents', 'history'])
        await database.query(`DELETE FROM dns_template_sync.${table} WHERE scope = $1`, [digest]);
    },
    close: async () => opened?.close(),
  };
};

/** Each state directory has an embedded service of its own. */
const sharedPlace = (place: MemoryPlace): MemoryPlace => {
  if (!place.isSandbox) return place;
  const digest = createHash('sha256').update(`${place.stateDir} ${place.digest}`).digest('hex').slice(0, 32);
  return { ...place, digest };
};
