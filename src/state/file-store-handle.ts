import { statSync } from 'node:fs';
import { messageOf } from '../errors.ts';
import { holdClient, lockFilesIn } from './client-locks.ts';
import {
  actAsOwner,
  startsWithout,
  watched,
  type StoreHandle,
  type Say,
  openNotices,
} from './store-handle.ts';
import { noMemories } from './memory.ts';
import { CachedConnection } from './open-memory.ts';
import { borrowForReading } from './read-copy.ts';
import { borrowOrSalvage } from './salvage.ts';
import type { StateFile } from './state-file.ts';

/** State in the files of state directories. */
export const fileStoreHandle = (
  warn: (message: string) => void,
  now: () => number = Date.now,
): StoreHandle => {
  const kept = new CachedConnection(now);
  const notices = openNotices(warn);
  return {
    read: async (location, list, task) => {
      const { file, isSandbox } = location;
      const say = notices.begin();
      if (isAbsent(file)) {
        if (!isSandbox) say(`planned without saved state, so causes are unknown: there is no ${file} yet`);
        return task(noMemories, say, null);
      }
      let state: StateFile;
      try {
        state = await borrowForReading(file);
      } catch (error) {
        say(`planned without saved state, so causes are unknown: ${messageOf(error)}`);
        return task(noMemories, say, null);
      }
      return kept.use(location.digest, state, async (memory) => {
        const { listing } = await actAsOwner(memory, location, list, say);
        return task(memory, say, listing);
      });
    },
    write: async (location, { mayBeginAnew = false, ...waiting }, list, task) => {
      let say: Say = () => undefined;
      const borrow = (): Promise<StateFile> => borrowOrSalvage(location.file, (message) => say(message));
      const { locks, isDecided, listing, notice } = await holdClient(location, waiting, list, {
        take: lockFilesIn(location.stateDir),
        onFirst: () => (say = notices.begin()),
        use: async (lookAround) => kept.use(location.digest, await borrow(), lookAround),
      });
      try {
        return await kept.use(location.digest, await borrow(), async (memory) => {
          if (notice !== null) say(notice);
          if (!location.isSandbox && isDecided && !mayBeginAnew && !(await kept.isFilled()))
            say(startsWithout(location.file));
          const onFailure = (error: unknown): void => {
            kept.distrust();
            say(messageOf(error));
            notices.forget();
          };
          return task(watched(memory, locks, onFailure), say, listing, {
            check: locks.check,
            holdsAdds: null,
          });
        });
      } finally {
        await locks.release();
      }
    },
    suspending: async (location, list, task) => {
      return kept.use(location.digest, await borrowOrSalvage(location.file, warn), async (memory) => {
        await actAsOwner(memory, location, list, warn);
        return task(memory);
      });
    },
    close: () => kept.close(),
  };
};

/** If the directory cannot be read, opening the file reports why. */
const isAbsent = (file: string): boolean => {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
};
