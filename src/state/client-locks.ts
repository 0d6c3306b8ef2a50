import { statSync } from 'node:fs';
import path from 'node:path';
import type { ActualTemplate } from '../model/template.ts';
import type { ClientMemory } from './client-memory.ts';
import { identify, type List, type Listing } from './identify.ts';
import { type Lock, type LockOptions, acquireLock } from './lock.ts';
import { identityLockOf, scopeLockOf, type StoreLocation } from './store-location.ts';
import { messageOf, processUser, UserError } from '../errors.ts';

export type Waiting = Pick<LockOptions, 'timeout' | 'signal' | 'onWait'>;

/** Takes the lock of this name. Throws `LockedError`. */
export type TakeLock = (name: string, waiting: Waiting) => Promise<Lock>;

/** How locks are taken, and what happens while they are held. */
interface Holding {
  readonly take: TakeLock;
  /** No other process works with this token. */
  readonly onFirst: () => void;
  readonly use: <T>(task: (memory: ClientMemory) => Promise<T>) => Promise<T>;
}

export interface HeldClient {
  readonly locks: Lock;
  /** The key of its state. */
  readonly scope: string;
  /** The listing that identified an unknown token, if it was read under these locks. */
  readonly listing: Listing | null;
  /** A notice for people about that. */
  readonly notice: string | null;
  /** False if an unknown token could not be identified, since the service did not answer. */
  readonly isDecided: boolean;
}

/**
 * Takes all locks that a client needs to write, and saves to which client an unknown token belongs:
 *
 * | lock of                                     | keeps out                                            |
 * | ------------------------------------------- | ---------------------------------------------------- |
 * | the token                                   | others with the same one                             |
 * | the client                                  | others with another token of it                      |
 * | each client that knows a template of it too | others that may be the same client                   |
 *
 * Some locks must be held to find out which ones are needed. Then all are taken again, in a fixed order, to avoid
 * deadlocks.
 */
export const holdClient = async (
  location: StoreLocation,
  waiting: Waiting,
  list: List,
  { take, onFirst, use }: Holding,
): Promise<HeldClient> => {
  let scopes: readonly string[] = [location.digest];
  let listing: Listing | null = null;
  const listOnce = (): Listing => (listing ??= list());
  for (;;) {
    const isFirst = scopes.length === 1;
    const locks = await takeAll(take, scopes, waiting);
    try {
      if (isFirst) onFirst();
      const held = new Set(scopes);
      const found = await use((memory) =>
        lookAround(memory, { location, held, waiting, take, list: listOnce }),
      );
      // A listing from before all locks were held may be out of date.
      if (found.missing.length === 0) return { ...found, locks, listing: isFirst ? listing : null };
      scopes = [...scopes, ...found.missing].sort();
    } catch (error) {
      await locks.release();
      throw error;
    }
    await locks.release();
  }
};

interface Looking {
  readonly location: StoreLocation;
  readonly held: ReadonlySet<string>;
  readonly waiting: Waiting;
  readonly take: TakeLock;
  readonly list: List;
}

interface FoundClient extends Omit<HeldClient, 'locks' | 'listing'> {
  readonly missing: readonly string[];
}

/** The client of the token, and the other locks that are needed before a write. */
const lookAround = async (
  memory: ClientMemory,
  { location, held, waiting, take, list }: Looking,
): Promise<FoundClient> => {
  const known = await memory.identify();
  const templates = known || location.baseUrl === null ? [] : await list().catch(() => null);
  if (templates === null || location.baseUrl === null)
    return {
      missing: [],
      scope: known?.scope ?? location.digest,
      notice: null,
      isDecided: templates !== null,
    };
  // Of two unknown tokens of one client, the second finds the client that the first one saved.
  const timeout = Math.max(waiting.timeout, shortWait);
  const deciding = known ? null : await take(identityLockOf(location), { ...waiting, timeout });
  try {
    const { client, notice } = await identify(memory, location, templates, known);
    const ids = ownIds(templates);
    const needed = [client.scope, ...(await memory.clients.rivalsOf(client, ids))];
    const missing = needed.filter((scope) => !held.has(scope));
    const isChanged = known?.baseUrl !== client.baseUrl || known.name !== client.name;
    if (missing.length === 0 && isChanged) await memory.clients.learn(client, ids);
    return { missing, scope: client.scope, notice, isDecided: true };
  } finally {
    await deciding?.release();
  }
};

/** Milliseconds: its holder waits for nothing else. */
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

/** The locks of a state directory, one file each. */
export const lockFilesIn =
  (stateDir: string): TakeLock =>
  async (name, waiting) => {
    try {
      return await acquireLock({ ...waiting, file: path.join(stateDir, `${name}.db`) });
    } catch (error) {
      throw error instanceof UserError ? error : unusable(stateDir, error);
    }
  };

const unusable = (stateDir: string, error: unknown): UserError =>
  new UserError(
    `the state directory cannot be used, and nothing is written to the service without it: ${stateDir}: ${isFile(stateDir) ? 'it is a file' : messageOf(error)}; set --state-dir to a directory that ${processUser} can write`,
    { cause: error },
  );

const isFile = (place: string): boolean => statSync(place, { throwIfNoEntry: false })?.isFile() === true;
