import { messageOf } from '../errors.ts';
import type { Suspensions } from '../model/suspension.ts';
import { lockClient, type TakeLock, type Waiting } from './client-locks.ts';
import type { Lock } from './lock.ts';
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
  /** For one pass that writes: how its locks are taken, and then its memory. */
  writing(location: StoreLocation): {
    readonly take: TakeLock;
    readonly open: (lostPause: number, say: Say) => Promise<OpenedMemory>;
  };
  /** Without locks. */
  suspending(location: StoreLocation, say: Say): Promise<ClientMemory>;
}

/** For a task that reads; null if there is no state yet. */
export type ReadStore = <T>(
  location: StoreLocation,
  task: (memory: ClientReader | null) => Promise<T>,
) => Promise<T>;

type ClientReader = MemoryReader & PagedHistory;

interface OpenedMemory extends Pick<HeldMemory, 'holdsAdds' | 'now'> {
  readonly memory: ClientMemory;
  /** Nothing was ever learnt of the client. */
  readonly isNew: boolean;
}

export const storeHandle = (store: StoreAccess, warn: Say): StoreHandle => {
  const notices = openNotices(warn);
  return {
    read: async (location, task) => {
      const say = notices.begin();
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
      const { take, open } = store.writing(location);
      const locks = await lockClient(location, waiting, take);
      const say = notices.begin();
      try {
        const { memory, isNew, holdsAdds, now } = await open(lostPause, say);
        if (holdsAdds !== null) say(holdsAdds);
        if (isNew && !location.isSandbox && !mayBeginAnew) say(startsWithout(store.place(location)));
        const onFailure = (error: unknown): void => {
          say(messageOf(error));
          notices.forget();
        };
        const held = { check: locks.check, holdsAdds, ...(now && { now }) };
        return await task(watched(memory, locks, onFailure), say, held);
      } finally {
        await locks.release();
      }
    },
    suspending: async (location, task) => task(await store.suspending(location, warn)),
  };
};

/** Saves nothing once the lock is gone, and reports what could not be saved. */
const watched = (
  memory: ClientMemory,
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
    begin: (entry) => keep(() => memory.begin(entry)),
    save: (changes) => keep(() => memory.save(changes)),
    compare: (templateIds) => keep(() => memory.compare(templateIds)),
  };
};

export const takesOver = (before: string, name: string): string =>
  `${name} takes over the saved state of client ${before}, which used this token and is not set any more`;

const startsWithout = (place: string): string =>
  `no saved state for this client yet in ${place}: first writes wait for a second listing`;

interface Notices {
  /** Starts a pass; returns the function that shows its notices. */
  begin(): Say;
  /** From the next pass on, every notice is new. */
  forget(): void;
}

/** Does not repeat notices of the previous pass. A notice is new again after a pass without it. */
const openNotices = (warn: Say): Notices => {
  let latest = new Set<string>();
  return {
    begin: () => {
      const before = latest;
      const said = new Set<string>();
      latest = said;
      return (message, level) => {
        if (!before.has(message) && !said.has(message)) warn(message, level);
        said.add(message);
      };
    },
    forget: () => {
      latest = new Set();
    },
  };
};
