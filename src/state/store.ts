import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Suspension } from '../model/suspension.ts';
import { allSuspensions, clientMemory } from './client-memory.ts';
import { filesOf, markFileOf, memoryError } from './database.ts';
import { noteClient, renamedFrom } from './identity.ts';
import { endOf } from './instant.ts';
import { lockClient } from './lock.ts';
import { StateFile } from './state-file.ts';
import { takesOver, type Say, type StateStore } from './store-handle.ts';
import type { StoreLocation } from './store-location.ts';
import type { Rows } from './tables.ts';

/** Each client's state in a file of its state directory. */
export const fileStore = (clock: Pick<Clock, 'now' | 'uptime'>): StateStore => {
  const files = new Map<string, StateFile>();
  const stateIn = (file: string): StateFile => {
    const state = files.get(file) ?? new StateFile(file, clock);
    files.set(file, state);
    return state;
  };
  /** SQLite writes a file, and beside it, even for reading: one that may only be read is copied. */
  const reading = async <T>(file: string, task: (rows: Rows) => Promise<T>): Promise<T> => {
    if (isWritable(path.dirname(file)) && isWritable(file)) return task(await stateIn(file).begin());
    const folder = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-'));
    const copy = new StateFile(path.join(folder, path.basename(file)), clock);
    try {
      copyDatabase(file, copy.file);
      return await task(await copy.begin());
    } finally {
      await copy.close('now');
      rmSync(folder, { recursive: true, force: true });
    }
  };
  const begin = async (state: StateFile, say: Say): Promise<Rows> => {
    const rows = await state.begin(true);
    for (const notice of state.notices.splice(0)) say(...notice);
    return rows;
  };

  return {
    place: ({ file }) => file,
    read: (location, task) =>
      isAbsent(location.file)
        ? task(null)
        : reading(location.file, async (rows) => {
            const before = await rows.ask((query) => renamedFrom(query, rows.sql, location));
            return task(clientMemory(rows, location, before?.scope));
          }),
    take: async (location, waiting) => ({
      ...(await lockClient(location, waiting)),
      open: async (lostPause, say) => {
        const state = stateIn(location.file);
        const rows = await begin(state, say);
        const { sql, ask, change } = rows;
        const { scope, name, token } = location;
        const [known] = await ask((query) => query<{ token: string }>(sql.token, [scope]));
        if (known?.token !== token) {
          const before = await change((query) => noteClient(query, sql, location));
          if (before !== null) say(takesOver(before, name));
        }
        const some = await ask((query) => query(`${sql.revisions} LIMIT 1`, [scope]));
        return {
          memory: clientMemory(rows, location),
          isNew: some.length === 0,
          holdsAdds: holdsAdds(state, location, lostPause),
        };
      },
    }),
    // Takes no state over: it has no lock, and a pass of the earlier name may be under way.
    suspending: async (location, say) => clientMemory(await begin(stateIn(location.file), say), location),
    suspended: async (places) => {
      const there = [...new Set(places.map(({ file }) => file))].filter((file) => existsSync(file));
      const found = new Map<string, ReadonlyMap<string, readonly Suspension[]>>();
      for (const file of there) found.set(file, await reading(file, allSuspensions));
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
