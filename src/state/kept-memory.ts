import { statSync } from 'node:fs';
import { messageOf } from '../errors.ts';
import { holdClient, type Waiting } from './client-locks.ts';
import { identify, type List, type Listing } from './identify.ts';
import type { Lock } from './lock.ts';
import { noMemories, type Memory, type MemoryReader } from './memory.ts';
import { openForReading } from './read-copy.ts';
import { openOrSalvage } from './salvage.ts';
import type { MemoryPlace } from './memory-place.ts';
import type { FileMemory } from './sqlite.ts';
import { openNotices } from './notices.ts';
import { OpenMemory } from './open-memory.ts';

/** Told what a person should know of a pass; what the pass before said too is not said again. */
export type Say = (message: string) => void;

/** The memory of one client. It is opened by the first pass that needs it, and kept for those that follow. */
export interface MemoryKeeper {
  /** Planning goes on without memory where there is none, or none that can be read. */
  read<T>(place: MemoryPlace, list: List, task: Task<MemoryReader, T>): Promise<T>;
  /** While it holds the lock. */
  write<T>(place: MemoryPlace, use: Use, list: List, task: Task<Memory, T>): Promise<T>;
  /** At once, or when the pass that runs has ended. */
  close(): Promise<void>;
}

/** `mayBeginAnew`: that nothing is remembered yet is nothing to tell. */
interface Use extends Waiting {
  readonly mayBeginAnew?: boolean;
}

/** Given the listing by which the client was found, where that took one. */
type Task<M, T> = (memory: M, say: Say, listing: Listing | null) => Promise<T>;

export const createMemoryKeeper = (warn: (message: string) => void): MemoryKeeper => {
  const kept = new OpenMemory();
  const notices = openNotices(warn);
  return {
    read: async (place, list, task) => {
      const { file, isSandbox } = place;
      const say = notices.begin();
      if (isAbsent(file)) {
        if (!isSandbox) say(`planned without memory, so causes are unknown: there is no ${file} yet`);
        return task(noMemories, say, null);
      }
      let memory: FileMemory;
      try {
        memory = await kept.open(place, openForReading);
      } catch (error) {
        say(`planned without memory, so causes are unknown: ${messageOf(error)}`);
        return task(noMemories, say, null);
      }
      return kept.use(async () => {
        if (isSandbox || (await memory.identify())) return task(memory, say, null);
        const listing = list();
        const templates = await listing.catch(() => null);
        if (templates === null) return task(memory, say, listing);
        const { client, notice } = await identify(memory, place, templates);
        memory.actAs(client);
        if (notice !== null) say(notice);
        return task(memory, say, listing);
      });
    },
    write: async (place, { mayBeginAnew = false, ...waiting }, list, task) => {
      let say: Say = () => undefined;
      const open = (): Promise<FileMemory> => kept.open(place, (...where) => openOrSalvage(...where, say));
      const { locks, isDecided, listing, notice } = await holdClient(place, waiting, list, {
        onFirst: () => (say = notices.begin()),
        use: async (lookAround) => {
          const memory = await open();
          return kept.use(() => lookAround(memory));
        },
      });
      try {
        const memory = await open();
        return await kept.use(async () => {
          if (notice !== null) say(notice);
          if (!place.isSandbox && isDecided && !mayBeginAnew && !(await kept.isFilled()))
            say(startsWithout(place.file));
          const onFailure = (error: unknown): void => {
            kept.distrust();
            say(messageOf(error));
            notices.forget();
          };
          return task(watched(memory, locks, onFailure), say, listing);
        });
      } finally {
        await locks.release();
      }
    },
    close: () => kept.close(),
  };
};

/** Keeps nothing once the lock is gone, and tells of what could not be kept. */
const watched = (
  memory: FileMemory,
  lock: Pick<Lock, 'check'>,
  onFailure: (error: unknown) => void,
): Memory => {
  const keep = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      lock.check();
      return await task();
    } catch (error) {
      onFailure(error);
      throw error;
    }
  };
  return {
    ...memory,
    begin: (intent) => keep(() => memory.begin(intent)),
    finish: (intent, ending, changes) => keep(() => memory.finish(intent, ending, changes)),
    save: (changes) => keep(() => memory.save(changes)),
  };
};

/** Of one that may not even be looked for, whoever opens it hears why. */
const isAbsent = (file: string): boolean => {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
};

const startsWithout = (file: string): string =>
  `starts without memory, so causes are unknown and adds wait for a second reading: nothing is remembered of this client in ${file} yet`;
