import { statSync } from 'node:fs';
import path from 'node:path';
import { messageOf, processUser, UserError } from '../errors.ts';
import { acquireLock, type Lock } from './lock.ts';
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
  read<T>(place: MemoryPlace, task: (memory: MemoryReader, say: Say) => Promise<T>): Promise<T>;
  /** While it holds the lock. */
  write<T>(place: MemoryPlace, waiting: Waiting, task: (memory: Memory, say: Say) => Promise<T>): Promise<T>;
  /** At once, or when the pass that runs has ended. */
  close(): Promise<void>;
}

interface Waiting {
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly onWait: (holder: string) => void;
}

export const createMemoryKeeper = (warn: (message: string) => void): MemoryKeeper => {
  const kept = new OpenMemory();
  const notices = openNotices(warn);
  return {
    read: async (place, task) => {
      const { file, isSandbox } = place;
      const say = notices.begin();
      if (isAbsent(file)) {
        if (!isSandbox) say(`planned without memory, so causes are unknown: there is no ${file} yet`);
        return task(noMemories, say);
      }
      let memory: Memory;
      try {
        memory = await kept.open(place, openForReading);
      } catch (error) {
        say(`planned without memory, so causes are unknown: ${messageOf(error)}`);
        return task(noMemories, say);
      }
      return kept.use(() => task(memory, say));
    },
    write: async (place, waiting, task) => {
      const { file, lock: lockFile, isSandbox } = place;
      const lock = await acquireLock({ file: lockFile, ...waiting }).catch((error: unknown) => {
        throw error instanceof UserError ? error : unusable(lockFile, error);
      });
      const say = notices.begin();
      try {
        const memory = await kept.open(place, (...where) => openOrSalvage(...where, say));
        return await kept.use(async () => {
          if (!isSandbox && !(await kept.isFilled())) say(startsWithout(file));
          const onFailure = (error: unknown): void => {
            kept.distrust();
            say(messageOf(error));
            notices.forget();
          };
          return task(watched(memory, lock, onFailure), say);
        });
      } finally {
        await lock.release();
      }
    },
    close: () => kept.close(),
  };
};

/** Keeps nothing once the lock is gone, and tells of what could not be kept. */
const watched = (memory: FileMemory, lock: Lock, onFailure: (error: unknown) => void): Memory => {
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

const unusable = (file: string, error: unknown): UserError =>
  new UserError(
    `the state directory cannot be used, and nothing is written to the service without it: ${path.dirname(file)}: ${messageOf(error)}; set --state-dir to a directory that ${processUser} can write`,
    { cause: error },
  );
