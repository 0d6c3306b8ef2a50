import { existsSync, rmSync, statSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';
import type { SavedAt } from '../model/saved-at.ts';
import type { Suspension } from '../model/suspension.ts';
import { lockFilesIn } from './client-locks.ts';
import { isNoted, noteClient, renamedFrom } from './clients.ts';
import { filesOf, markFileOf } from './database.ts';
import { endOf } from './instant.ts';
import type { ClientMemory } from './memory.ts';
import { isWritable, withCopy } from './read-copy.ts';
import { isUnknown, memoryIn, suspensionsIn } from './sqlite.ts';
import { StateFile } from './state-file.ts';
import { storeHandle, takesOver, type ReadStore, type Say, type StoreHandle } from './store-handle.ts';
import type { StoreLocation } from './store-location.ts';

/** Where the state is saved. */
export interface StateStore {
  /** For the passes of one client. */
  handle(warn: Say): StoreHandle;
  /** For a task that reads; null if there is no state yet. */
  readonly read: ReadStore;
  /** What is suspended at the moment, of all clients at once. */
  suspended(places: readonly SavedAt[]): Promise<readonly (readonly Suspension[])[]>;
  /** Removes the state for the embedded service, which starts again. */
  forget(location: StoreLocation): Promise<void>;
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
  const reading = <T>(file: string, task: (state: StateFile) => Promise<T>): Promise<T> =>
    isWritable(file) ? task(stateIn(file)) : withCopy(file, (copy) => new StateFile(copy, clock), task);

  const read: ReadStore = async (location, task) =>
    isAbsent(location.file)
      ? task(null)
      : reading(location.file, async (state) => {
          const life = await state.begin();
          const before = await state.ask(life, (connection) => renamedFrom(connection, location));
          return task(memoryIn(state, life, location, before?.scope));
        });

  /** Notes who it is, which takes over the state of an earlier name. */
  const openForWriting = async (
    location: StoreLocation,
    say: Say,
  ): Promise<{ readonly state: StateFile; readonly life: number; readonly memory: ClientMemory }> => {
    const state = stateIn(location.file);
    const life = await state.beginWriting(say, ({ message, suspensions }) => {
      say(`${message}; a new one starts without what it knew of the service`);
      if (suspensions === null)
        say(
          `what was suspended in ${location.file} cannot be read, and is suspended no more: suspend it again`,
          'error',
        );
      else if (suspensions > 0) say(`${suspensions} suspensions in ${location.file} are kept`);
    });
    const known = await state.ask(life, (connection) => isNoted(connection, location));
    const before = known ? null : await state.change(life, (connection) => noteClient(connection, location));
    if (before !== null) say(takesOver(before, location.name));
    return { state, life, memory: memoryIn(state, life, location) };
  };

  const access = {
    place: ({ file }: StoreLocation) => file,
    read,
    writing: (location: StoreLocation) => ({
      take: lockFilesIn(location.stateDir),
      open: async (lostPause: number, say: Say) => {
        const { state, life, memory } = await openForWriting(location, say);
        const isNew = await state.ask(life, (connection) => isUnknown(connection, location.scope));
        return { memory, isNew, holdsAdds: holdsAdds(state, location, lostPause) };
      },
    }),
    suspending: async (location: StoreLocation, say: Say) => (await openForWriting(location, say)).memory,
  };

  return {
    handle: (warn) => storeHandle(access, warn),
    read,
    suspended: async (places) => {
      const there = [...new Set(places.map(({ file }) => file))].filter((file) => existsSync(file));
      const found = new Map(
        await Promise.all(
          there.map(async (file) => [file, await reading(file, suspensionsOf(clock.now))] as const),
        ),
      );
      return places.map(({ file, scope }) => found.get(file)?.get(scope) ?? []);
    },
    forget: async ({ file }) => {
      await files.get(file)?.close();
      for (const one of [...filesOf(file), markFileOf(file)]) rmSync(one, { force: true });
    },
    close: async () => {
      await Promise.all([...files.values()].map((state) => state.close()));
    },
  };
};

const suspensionsOf = (now: () => number) => async (state: StateFile) => {
  const life = await state.begin();
  return state.ask(life, (connection) => suspensionsIn(connection, now()));
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
