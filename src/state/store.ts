import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { SavedAt } from '../model/saved-at.ts';
import type { Suspension } from '../model/suspension.ts';
import { allSuspensions } from './client-memory.ts';
import { filesOf, markFileOf, memoryError } from './database.ts';
import { noteClient, renamedFrom } from './identity.ts';
import { endOf } from './instant.ts';
import { lockClient } from './lock.ts';
import { memoryIn, rowsIn } from './sqlite.ts';
import { StateFile } from './state-file.ts';
import {
  storeHandle,
  takesOver,
  type ReadStore,
  type Say,
  type StoreAccess,
  type StoreHandle,
} from './store-handle.ts';
import type { StoreLocation } from './store-location.ts';

/** Where the state is saved. */
export interface StateStore {
  /** For the passes of one client. */
  handle(warn: Say): StoreHandle;
  /** For a task that reads; null if there is no state yet. */
  readonly read: ReadStore;
  /** What is suspended at the moment, of all clients at once. */
  suspended(places: readonly SavedAt[]): Promise<readonly (readonly Suspension[])[]>;
  close(): Promise<void>;
}

/** Each client's state in a file of its state directory. */
export const fileStore = (clock: Pick<Clock, 'now' | 'uptime'>): StateStore => {
  const files = new Map<string, StateFile>();
  const stateIn = (file: string): StateFile => {
    const state = files.get(file) ?? new StateFile(file, clock);
    files.set(file, state);
    return state;
  };
  /** SQLite writes a file, and beside it, even for reading: one that may only be read is copied. */
  const reading = async <T>(file: string, task: (state: StateFile) => Promise<T>): Promise<T> => {
    if (isWritable(path.dirname(file)) && isWritable(file)) return task(stateIn(file));
    const folder = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-'));
    const copy = new StateFile(path.join(folder, path.basename(file)), clock);
    try {
      copyDatabase(file, copy.file);
      return await task(copy);
    } finally {
      await copy.close('now');
      rmSync(folder, { recursive: true, force: true });
    }
  };

  const read: ReadStore = async (location, task) =>
    isAbsent(location.file)
      ? task(null)
      : reading(location.file, async (state) => {
          const life = await state.begin();
          const { sql, ask } = rowsIn(state, life);
          const before = await ask((query) => renamedFrom(query, sql, location));
          return task(memoryIn(state, life, location, before?.scope));
        });

  const begunFor = async (location: StoreLocation, say: Say) => {
    const state = stateIn(location.file);
    const life = await state.begin(true);
    for (const notice of state.notices.splice(0)) say(...notice);
    return { state, life };
  };

  /** Notes who it is, which takes over the state of an earlier name. */
  const openForWriting = async (location: StoreLocation, say: Say) => {
    const { state, life } = await begunFor(location, say);
    const { sql, ask, change } = rowsIn(state, life);
    const { scope, name } = location;
    const [known] = await ask((query) => query<{ token: string }>(sql.token, [scope]));
    if (known?.token !== location.token) {
      const before = await change((query) => noteClient(query, sql, location));
      if (before !== null) say(takesOver(before, name));
    }
    const isNew = async (): Promise<boolean> =>
      (await ask((query) => query(`${sql.revisions} LIMIT 1`, [scope]))).length === 0;
    return { state, memory: memoryIn(state, life, location), isNew };
  };

  const access: StoreAccess = {
    place: ({ file }) => file,
    read,
    take: async (location, waiting) => ({
      ...(await lockClient(location, waiting)),
      open: async (lostPause, say) => {
        const { state, memory, isNew } = await openForWriting(location, say);
        return { memory, isNew: await isNew(), holdsAdds: holdsAdds(state, location, lostPause) };
      },
    }),
    // Takes no state over: it has no lock, and a pass of the earlier name may be under way.
    suspending: async (location, say) => {
      const { state, life } = await begunFor(location, say);
      return memoryIn(state, life, location);
    },
  };

  return {
    handle: (warn) => storeHandle(access, warn),
    read,
    suspended: async (places) => {
      const there = [...new Set(places.map(({ file }) => file))].filter((file) => existsSync(file));
      const found = new Map(
        await Promise.all(there.map(async (file) => [file, await reading(file, suspensionsOf)] as const)),
      );
      return places.map(({ file, scope }) => found.get(file)?.get(scope) ?? []);
    },
    close: async () => {
      await Promise.all([...files.values()].map((state) => state.close()));
    },
  };
};

/** Removes the state for an embedded service that starts again. Nobody has it open. */
export const forgetState = ({ file }: StoreLocation): void => {
  for (const one of [...filesOf(file), markFileOf(file)]) rmSync(one, { force: true });
};

const suspensionsOf = async (state: StateFile): Promise<ReadonlyMap<string, readonly Suspension[]>> =>
  allSuspensions(rowsIn(state, await state.begin()));

/** What was forgotten may still take effect. The embedded service answers truly at once. */
const holdsAdds = (
  { lost, now }: StateFile,
  { isSandbox }: StoreLocation,
  lostPause: number,
): string | null => {
  if (lost === null || isSandbox) return null;
  // To the second: what two clocks say differs by a little each time, and is to be said once.
  const until = Math.ceil(endOf(lost.at, lostPause, now) / 1_000) * 1_000;
  return until > now.now ? `${lost.why}: no adds before ${new Date(until).toISOString()}` : null;
};

/** If the directory cannot be read, opening the file reports why. */
const isAbsent = (file: string): boolean => {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
};

const isWritable = (place: string): boolean => {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

const copyDatabase = (file: string, copy: string): void => {
  try {
    copyFileSync(file, copy);
    // The shared memory file has nothing that the journal does not have.
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
  } catch (error) {
    throw memoryError(file, error);
  }
};
