import type { PresentTemplate } from '../model/template.ts';
import { messageOf, processUser, UserError } from '../errors.ts';
import { identify, type List, type Listing } from './identify.ts';
import { acquireLock, type Lock, type LockOptions } from './lock.ts';
import { identityLockOf, lockFileOf, type MemoryPlace } from './memory-place.ts';
import type { FileMemory } from './sqlite.ts';

export type Waiting = Pick<LockOptions, 'timeout' | 'signal' | 'onWait'>;

/** What is done while some of the locks are held. */
interface Holding {
  /** Nobody else is at work with this token. */
  readonly onFirst: () => void;
  readonly use: <T>(task: (memory: FileMemory) => Promise<T>) => Promise<T>;
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
  { onFirst, use }: Holding,
): Promise<HeldClient> => {
  let scopes: readonly string[] = [place.digest];
  let listing: Listing | null = null;
  const listOnce = (): Listing => (listing ??= list());
  for (;;) {
    const isFirst = scopes.length === 1;
    const locks = await acquireAll(place, scopes, waiting);
    try {
      if (isFirst) onFirst();
      const held = new Set(scopes);
      const found = await use((memory) => lookAround(memory, { place, held, waiting, list: listOnce }));
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
  readonly list: List;
}

/** Whose the token is, and what has to be locked besides before anything may be written. */
const lookAround = async (
  memory: FileMemory,
  { place, held, waiting, list }: Looking,
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
  const deciding = known ? null : await acquire(place, identityLockOf(place), { ...waiting, timeout });
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

const ownIds = (templates: readonly PresentTemplate[]): number[] =>
  templates.filter(({ publiclyAvailable }) => !publiclyAvailable).map(({ id }) => id);

const acquireAll = async (place: MemoryPlace, scopes: readonly string[], waiting: Waiting): Promise<Lock> => {
  const locks: Lock[] = [];
  const release = async (): Promise<void> => {
    for (const lock of locks.splice(0)) await lock.release();
  };
  try {
    for (const scope of scopes) locks.push(await acquire(place, lockFileOf(place, scope), waiting));
  } catch (error) {
    await release();
    throw error;
  }
  return { check: () => locks.forEach((lock) => lock.check()), release };
};

const acquire = async (place: MemoryPlace, file: string, waiting: Waiting): Promise<Lock> => {
  try {
    return await acquireLock({ ...waiting, file });
  } catch (error) {
    throw error instanceof UserError ? error : unusable(place, error);
  }
};

const unusable = ({ stateDir }: MemoryPlace, error: unknown): UserError =>
  new UserError(
    `the state directory cannot be used, and nothing is written to the service without it: ${stateDir}: ${messageOf(error)}; set --state-dir to a directory that ${processUser} can write`,
    { cause: error },
  );
