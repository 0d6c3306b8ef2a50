import { messageOf } from '../errors.ts';
import type { SavedAt, Suspension, Suspensions } from '../model/suspension.ts';
import type { Lock, Waiting } from './lock.ts';
import { MemoryError, noMemories, type Memory, type MemoryReader, type History } from './memory.ts';
import type { OpenedClient } from './client-memory.ts';
import type { StoreLocation } from './store-location.ts';
import type { Tables } from './tables.ts';

/** Where the state is saved. It throws `UserError`. */
export interface StateStore {
  /** Where that is, for people. */
  place(location: StoreLocation): string;
  /** Those that this client's state is in, which are opened when they are asked. */
  tables(location: Pick<StoreLocation, 'file'>): Tables;
  /** For a task that reads; null if there is no state yet. */
  read<T>(location: StoreLocation, task: (memory: (MemoryReader & History) | null) => Promise<T>): Promise<T>;
  /** For one pass that writes: its locks, under which the memory is opened. */
  take(location: StoreLocation, waiting: Waiting): Promise<TakenMemory>;
  /** Without the locks, so that a pass that is running hears of it: changes nothing but what is suspended. */
  suspending(location: StoreLocation, say: Say): Promise<Suspending>;
  /** What is suspended at the moment, of all clients at once. */
  suspended(places: readonly SavedAt[]): Promise<readonly (readonly Suspension[])[]>;
  close(): Promise<void>;
}

/** Called with messages about a pass for people. `error`: nothing keeps from being written any more what should not be. */
export type Say = (message: string, level?: 'warn' | 'error') => void;

/** What is suspended of a client, and which of its writes are under way. */
export type Suspending = Suspensions & Pick<MemoryReader, 'templates' | 'journal'>;

export interface TakenMemory extends Lock {
  /** `lostPause`: milliseconds without adds after entries of the journal may have been lost: then no listing lacks what was sent. */
  readonly open: (lostPause: number, say: Say) => Promise<OpenedMemory>;
}

export interface OpenedMemory {
  readonly memory: Memory;
  /** Nothing was ever learnt of the client. */
  readonly isNew: boolean;
  /** Why adds may be missing from the state; null if none can be. */
  readonly holdsAdds: string | null;
  /** Milliseconds since the epoch, by a clock that all processes share; absent if that of this machine is the one. */
  readonly now?: () => number;
  /** Milliseconds: how late a process that was stopped may send what it had begun, when another one goes on; absent if it cannot. */
  readonly mostLate?: number;
}

/** What a writing pass holds. `check` throws a `MemoryError` if nothing may be written any more. */
export type HeldMemory = Omit<OpenedMemory, 'isNew'> & Pick<Lock, 'check'>;

/** `mayBeginAnew`: does not warn if there is no saved state yet. */
export interface MemoryUse extends Waiting {
  readonly mayBeginAnew?: boolean;
  readonly lostPause: number;
}

/** The state of one client, for one pass after the other. */
export const storeHandle = (store: StateStore, warn: Say) => {
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
    /** Plans without state if there is none or it cannot be read. */
    read: async <T>(
      location: StoreLocation,
      task: (memory: MemoryReader, say: Say) => Promise<T>,
    ): Promise<T> => {
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
    /** Runs the task while it holds the locks. */
    write: async <T>(
      location: StoreLocation,
      { mayBeginAnew = false, lostPause, ...waiting }: MemoryUse,
      task: (held: HeldMemory, say: Say) => Promise<T>,
    ): Promise<T> => {
      const { check, open, release } = await store.take(location, waiting);
      const say = beginSaying();
      try {
        const { memory, isNew, ...rest } = await open(lostPause, say);
        if (rest.holdsAdds !== null) say(rest.holdsAdds);
        if (isNew && !location.isSandbox && !mayBeginAnew)
          say(
            `no saved state for this client yet in ${store.place(location)}: first writes wait for a second listing`,
          );
        /** Saves nothing once the lock is gone, and reports what could not be saved. */
        const keep = async <Saved>(change: () => Promise<Saved>): Promise<Saved> => {
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
        return await task({ ...rest, memory: kept, check }, say);
      } finally {
        await release();
      }
    },
  };
};

/** Notes whose state it is, and says from whom it was taken over. */
export const takeOver = async (
  memory: Pick<OpenedClient, 'note'>,
  { name }: StoreLocation,
  say: Say,
): Promise<void> => {
  const before = await memory.note();
  if (before !== null)
    say(
      `${name} takes over the saved state of client ${before}, which used this token and is not set any more`,
    );
};
