import { messageOf } from '../errors.ts';
import type { Suspensions } from '../model/suspension.ts';
import type { Lock, Waiting } from './lock.ts';
import {
  MemoryError,
  noMemories,
  type ClientMemory,
  type Memory,
  type MemoryReader,
  type PagedHistory,
} from './memory.ts';
import type { StoreLocation } from './store-location.ts';

/** Called with messages about a pass for people. `error`: nothing keeps from being written any more what should not be. */
export type Say = (message: string, level?: 'warn' | 'error') => void;

/** The state of one client. */
export interface StoreHandle {
  /** Plans without state if there is none or it cannot be read. */
  read<T>(location: StoreLocation, task: (memory: MemoryReader, say: Say) => Promise<T>): Promise<T>;
  /** Runs the task while it holds the locks. */
  write<T>(location: StoreLocation, use: MemoryUse, task: WriteTask<T>): Promise<T>;
  /** Without the locks, so that a pass that is running hears of it: changes nothing but what is suspended. */
  suspending<T>(location: StoreLocation, task: (memory: Suspending) => Promise<T>): Promise<T>;
}

/** `mayBeginAnew`: does not warn if there is no saved state yet. */
export interface MemoryUse extends Waiting {
  readonly mayBeginAnew?: boolean;
  /** Milliseconds without adds after entries of the journal may have been lost: then no listing lacks what was sent. */
  readonly lostPause: number;
}

/** What is suspended of a client, and which of its writes are under way. */
export type Suspending = Suspensions & Pick<MemoryReader, 'templates' | 'journal'>;

type WriteTask<T> = (memory: Memory, say: Say, held: HeldMemory) => Promise<T>;

/** What a writing pass holds. */
export interface HeldMemory {
  /** Throws a `MemoryError` if nothing may be written any more. */
  readonly check: () => void;
  /** Why adds may be missing from the state; null if none can be. */
  readonly holdsAdds: string | null;
  /** Milliseconds since the epoch, by a clock that all processes share; absent if that of this machine is the one. */
  readonly now?: () => number;
}

/** What stores do in their own ways. They throw `UserError`. */
export interface StoreAccess {
  /** Where it is, for people. */
  place(location: StoreLocation): string;
  /** For a task that reads; null if there is no state yet. */
  readonly read: ReadStore;
  /** For one pass that writes: its locks, under which the memory is opened. */
  take(location: StoreLocation, waiting: Waiting): Promise<TakenMemory>;
  /** Without locks. */
  suspending(location: StoreLocation, say: Say): Promise<ClientMemory>;
}

/** For a task that reads; null if there is no state yet. */
export type ReadStore = <T>(
  location: StoreLocation,
  task: (memory: (MemoryReader & PagedHistory) | null) => Promise<T>,
) => Promise<T>;

export interface TakenMemory extends Lock {
  readonly open: (lostPause: number, say: Say) => Promise<OpenedMemory>;
}

export interface OpenedMemory extends Pick<HeldMemory, 'holdsAdds' | 'now'> {
  readonly memory: ClientMemory;
  /** Nothing was ever learnt of the client. */
  readonly isNew: boolean;
}

export const storeHandle = (store: StoreAccess, warn: Say): StoreHandle => {
  /** What was said in the latest pass is not said again in the next one. */
  let said = new Set<string>();
  const beginSaying = (): Say => {
    const before = said;
    const now = new Set<string>();
    said = now;
    return (message, level) => {
      if (!before.has(message) && !now.has(message)) warn(message, level);
      now.add(message);
    };
  };
  return {
    read: async (location, task) => {
      const say = beginSaying();
      let why = `there is none in ${store.place(location)} yet`;
      let isOpen = false;
      try {
        return await store.read(location, async (memory) => {
          if (memory === null) throw new MemoryError(why);
          isOpen = true;
          return task(memory, say);
        });
      } catch (error) {
        if (isOpen) throw error;
        why = messageOf(error);
      }
      if (!location.isSandbox) say(`planned without saved state: ${why}`);
      return task(noMemories, say);
    },
    write: async (location, { mayBeginAnew = false, lostPause, ...waiting }, task) => {
      const { check, open, release } = await store.take(location, waiting);
      const say = beginSaying();
      try {
        const { memory, isNew, holdsAdds, now } = await open(lostPause, say);
        if (holdsAdds !== null) say(holdsAdds);
        if (isNew && !location.isSandbox && !mayBeginAnew)
          say(
            `no saved state for this client yet in ${store.place(location)}: first writes wait for a second listing`,
          );
        /** Saves nothing once the lock is gone, and reports what could not be saved. */
        const keep = async <T>(change: () => Promise<T>): Promise<T> => {
          try {
            check();
            return await change();
          } catch (error) {
            say(messageOf(error));
            // From the next pass on, everything is new.
            said = new Set();
            throw error;
          }
        };
        const kept: Memory = {
          ...memory,
          begin: (entry) => keep(() => memory.begin(entry)),
          save: (changes) => keep(() => memory.save(changes)),
          compare: (templateIds) => keep(() => memory.compare(templateIds)),
        };
        return await task(kept, say, { check, holdsAdds, ...(now && { now }) });
      } finally {
        await release();
      }
    },
    suspending: async (location, task) => task(await store.suspending(location, warn)),
  };
};

export const takesOver = (before: string, name: string): string =>
  `${name} takes over the saved state of client ${before}, which used this token and is not set any more`;
