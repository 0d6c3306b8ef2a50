import type { ActualTemplate } from '../model/template.ts';
import type { ClientMemory } from './client-memory.ts';
import { identify, type List, type Listing } from './identify.ts';
import type { Lock, LockOptions } from './lock.ts';
import { identityLockOf, scopeLockOf, type MemoryPlace } from './memory-place.ts';

export type Waiting = Pick<LockOptions, 'timeout' | 'signal' | 'onWait'>;

/** Takes the lock of this name. Throws `LockedError`. */
export type TakeLock = (name: string, waiting: Waiting) => Promise<Lock>;

/** How locks are taken, and what is done while some of them are held. */
interface Holding {
  readonly take: TakeLock;
  /** Nobody else is at work with this token. */
  readonly onFirst: () => void;
  readonly use: <T>(task: (memory: ClientMemory) => Promise<T>) => Promise<T>;
}

export interface HeldClient {
  readonly locks: Lock;
  /** By which an unknown token was judged, if it was read under these locks. */
  readonly listing: Listing | null;
  /** What a person should know of that. */
  readonly notice: string | null;
  /** False where the service could not be asked whose an unknown token is. */
  readonly isDecided: boolean;
}

/**
 * Takes all locks under which a client may write, and makes an unknown token known:
 *
 * | lock of                                     | keeps out                                            |
 * | ------------------------------------------- | ---------------------------------------------------- |
 * | the token                                   | others with the same one                             |
 * | the client                                  | others with another token of it                      |
 * | each client that knows a template of it too | who may be the same client, though nobody could tell |
 *
 * Which are needed shows once some are held. Then all are taken anew, always in one order, so that no two wait for
 * each other.
 */
export const holdClient = async (
  place: MemoryPlace,
  waiting: Waiting,
  list: List,
  { take, onFirst, use }: Holding,
): Promise<HeldClient> => {
  let scopes: readonly string[] = [place.digest];
  let listing: Listing | null = null;
  const listOnce = (): Listing => (listing ??= list());
  for (;;) {
    const isFirst = scopes.length === 1;
    const locks = await takeAll(take, scopes, waiting);
    try {
      if (isFirst) onFirst();
      const held = new Set(scopes);
      const found = await use((memory) => lookAround(memory, { place, held, waiting, take, list: listOnce }));
      // What was read before all locks were held may be old.
      if (found.missing.length === 0)
        return { locks, isDecided: found.isDecided, listing: isFirst ? listing : null, notice: found.notice };
      scopes = [...scopes, ...found.missing].sort();
    } catch (error) {
      await locks.release();
      throw error;
    }
    await locks.release();
  }
};

interface Looking {
  readonly place: MemoryPlace;
  readonly held: ReadonlySet<string>;
  readonly waiting: Waiting;
  readonly take: TakeLock;
  readonly list: List;
}

/** Whose the token is, and what has to be locked besides before anything may be written. */
const lookAround = async (
  memory: ClientMemory,
  { place, held, waiting, take, list }: Looking,
): Promise<{
  readonly missing: readonly string[];
  readonly notice: string | null;
  readonly isDecided: boolean;
}> => {
  const known = await memory.identify();
  const templates = known || place.baseUrl === null ? [] : await list().catch(() => null);
  if (templates === null || place.baseUrl === null)
    return { missing: [], notice: null, isDecided: templates !== null };
  // Of two unknown tokens of one client, the second one finds what the first one has made known.
  const timeout = Math.max(waiting.timeout, shortWait);
  const deciding = known ? null : await take(identityLockOf(place), { ...waiting, timeout });
  try {
    const { client, notice } = await identify(memory, place, templates);
    const ids = ownIds(templates);
    const needed = [client.scope, ...(await memory.clients.rivalsOf(client, ids))];
    const missing = needed.filter((scope) => !held.has(scope));
    const isNews = known?.baseUrl !== client.baseUrl || known.name !== client.name;
    if (missing.length === 0 && isNews) await memory.clients.learn(client, ids);
    return { missing, notice, isDecided: true };
  } finally {
    await deciding?.release();
  }
};

/** Milliseconds: nobody waits for anything else while holding it. */
const shortWait = 10_000;

const ownIds = (templates: readonly ActualTemplate[]): number[] =>
  templates.filter(({ publiclyAvailable }) => !publiclyAvailable).map(({ id }) => id);

const takeAll = async (take: TakeLock, scopes: readonly string[], waiting: Waiting): Promise<Lock> => {
  const locks: Lock[] = [];
  const release = async (): Promise<void> => {
    for (const lock of locks.splice(0)) await lock.release();
  };
  try {
    for (const scope of scopes) locks.push(await take(scopeLockOf(scope), waiting));
  } catch (error) {
    await release();
    throw error;
  }
  return { check: () => locks.forEach((lock) => lock.check()), release };
};
