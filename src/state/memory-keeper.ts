import type { Waiting } from './client-locks.ts';
import type { ClientMemory } from './client-memory.ts';
import { identify, type List, type Listing } from './identify.ts';
import type { Lock } from './lock.ts';
import type { MemoryPlace } from './memory-place.ts';
import type { Memory, MemoryReader } from './memory.ts';

/** Told what a person should know of a pass; what the pass before said too is not said again. */
export type Say = (message: string) => void;

/** The memory of one client. It is opened by the first pass that needs it, and kept for those that follow. */
export interface MemoryKeeper {
  /** Planning goes on without memory where there is none, or none that can be read. */
  read<T>(place: MemoryPlace, list: List, task: ReadTask<T>): Promise<T>;
  /** While it holds the lock. */
  write<T>(place: MemoryPlace, use: MemoryUse, list: List, task: WriteTask<T>): Promise<T>;
  /** At once, or when the pass that runs has ended. */
  close(): Promise<void>;
}

/** `mayBeginAnew`: that nothing is remembered yet is nothing to tell. */
export interface MemoryUse extends Waiting {
  readonly mayBeginAnew?: boolean;
  /** Milliseconds that no add is sent where the newest intents may be forgotten. */
  readonly unknownPause: number;
}

/** Given the listing by which the client was found, where that took one. */
type ReadTask<T> = (memory: MemoryReader, say: Say, listing: Listing | null) => Promise<T>;

/** What is held for a pass that writes. */
export interface HeldMemory {
  /** Throws a `MemoryError` where nothing may be written any more. */
  readonly check: () => void;
  /** Why adds may have been forgotten; null where none can have been. */
  readonly holdsAdds: string | null;
}

type WriteTask<T> = (memory: Memory, say: Say, listing: Listing | null, held: HeldMemory) => Promise<T>;

/** The listing by which a client was found, where that took one. */
interface FoundOwner {
  readonly listing: Listing | null;
}

/** Makes it the memory of the client whose the token is. */
export const actAsOwner = async (
  memory: ClientMemory,
  place: MemoryPlace,
  list: List,
  say: Say,
): Promise<FoundOwner> => {
  if (place.isSandbox || (await memory.identify())) return { listing: null };
  const listing = list();
  const templates = await listing.catch(() => null);
  if (templates === null) return { listing };
  const { client, notice } = await identify(memory, place, templates);
  memory.actAs(client);
  if (notice !== null) say(notice);
  return { listing };
};

/** Keeps nothing once the lock is gone, and tells of what could not be kept. */
export const watched = (
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
    begin: (intent) => keep(() => memory.begin(intent)),
    finish: (intent, ending, changes) => keep(() => memory.finish(intent, ending, changes)),
    save: (changes) => keep(() => memory.save(changes)),
  };
};

export const startsWithout = (store: string): string =>
  `starts without memory, so causes are unknown and adds wait for a second reading: nothing is remembered of this client in ${store} yet`;
