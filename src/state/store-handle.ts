import type { Waiting } from './client-locks.ts';
import type { ClientMemory } from './client-memory.ts';
import { identify, type List, type Listing } from './identify.ts';
import type { Lock } from './lock.ts';
import type { StoreLocation } from './store-location.ts';
import type { Memory, MemoryReader } from './memory.ts';
import type { Suspensions } from '../model/suspension.ts';

/** Called with messages about a pass for people; messages of the previous pass are not repeated. */
export type Say = (message: string) => void;

/** The state of one client. The first pass that needs it opens it; it stays open for later passes. */
export interface StoreHandle {
  /** Plans without state if there is none or it cannot be read. */
  read<T>(location: StoreLocation, list: List, task: ReadTask<T>): Promise<T>;
  /** Runs the task while it holds the lock. */
  write<T>(location: StoreLocation, use: MemoryUse, list: List, task: WriteTask<T>): Promise<T>;
  /** Without the lock, so that a pass that is running hears of it: changes nothing but what is suspended. */
  suspending<T>(location: StoreLocation, list: List, task: (memory: Suspending) => Promise<T>): Promise<T>;
  /** At once, or after the running pass. */
  close(): Promise<void>;
}

/** `mayBeginAnew`: does not warn if there is no saved state yet. */
export interface MemoryUse extends Waiting {
  readonly mayBeginAnew?: boolean;
  /** Milliseconds without adds if the newest intents may be lost. */
  readonly unknownPause: number;
}

/** What is suspended of a client, and which of its writes are under way. */
export type Suspending = Suspensions & Pick<MemoryReader, 'templates' | 'openIntents'>;

/** Gets the listing that identified the client, if one was needed. */
type ReadTask<T> = (memory: MemoryReader, say: Say, listing: Listing | null) => Promise<T>;

/** What a writing pass holds. */
export interface HeldMemory {
  /** Throws a `MemoryError` if nothing may be written any more. */
  readonly check: () => void;
  /** Why adds may be missing from the state; null if none can be. */
  readonly holdsAdds: string | null;
  /** Milliseconds since the epoch, by a clock that all processes share; absent if that of this machine is the one. */
  readonly now?: () => number;
}

type WriteTask<T> = (memory: Memory, say: Say, listing: Listing | null, held: HeldMemory) => Promise<T>;

/** The listing that identified a client, if one was needed. */
interface FoundOwner {
  readonly listing: Listing | null;
}

/** Switches to the state of the client that owns the token. */
export const actAsOwner = async (
  memory: ClientMemory,
  location: StoreLocation,
  list: List,
  say: Say,
): Promise<FoundOwner> => {
  if (location.isSandbox || (await memory.identify())) return { listing: null };
  const listing = list();
  const templates = await listing.catch(() => null);
  if (templates === null) return { listing };
  const { client, notice } = await identify(memory, location, templates);
  memory.actAs(client);
  if (notice !== null) say(notice);
  return { listing };
};

/** Saves nothing once the lock is gone, and reports what could not be saved. */
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
    finish: (intent, result, changes) => keep(() => memory.finish(intent, result, changes)),
    save: (changes) => keep(() => memory.save(changes)),
  };
};

export const startsWithout = (store: string): string =>
  `no saved state for this client yet in ${store}: causes are unknown, first writes wait for a second listing`;

interface Notices {
  /** Starts a pass; returns the function that shows its notices. */
  begin(): (message: string) => void;
  /** From the next pass on, every notice is new. */
  forget(): void;
}

/** Does not repeat notices of the previous pass. A notice is new again after a pass without it. */
export const openNotices = (warn: (message: string) => void): Notices => {
  let latest = new Set<string>();
  return {
    begin: () => {
      const before = latest;
      const said = new Set<string>();
      latest = said;
      return (message) => {
        if (!before.has(message) && !said.has(message)) warn(message);
        said.add(message);
      };
    },
    forget: () => {
      latest = new Set();
    },
  };
};
