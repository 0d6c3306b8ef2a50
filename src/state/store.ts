import { existsSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';
import type { Suspension } from '../model/suspension.ts';
import { allSuspensions, clientMemory, readableMemory } from './client-memory.ts';
import { lockClient } from './lock.ts';
import { isAbsent } from './private-file.ts';
import { StateFile } from './state-file.ts';
import { takeOver, type StateStore } from './store-handle.ts';

/** Each client's state in a file of its state directory. */
export const fileStore = (clock: Pick<Clock, 'now' | 'uptime'>): StateStore => {
  const files = new Map<string, StateFile>();
  const stateIn = (file: string): StateFile => {
    const state = files.get(file) ?? new StateFile(file, clock);
    files.set(file, state);
    return state;
  };
  return {
    place: ({ file }) => file,
    tables: ({ file }) => stateIn(file).tables(),
    read: async (location, task) => {
      if (isAbsent(location.file)) return task(null);
      return task(await readableMemory(await stateIn(location.file).begin(), location));
    },
    take: async (location, waiting) => ({
      ...(await lockClient(location, waiting)),
      open: async (lostPause, say) => {
        const state = stateIn(location.file);
        const memory = clientMemory(await state.begin(say), location);
        await takeOver(memory, location, say);
        // The embedded service answers truly at once.
        const holdsAdds = location.isSandbox ? null : state.holdsAdds(lostPause);
        return { memory, isNew: await memory.isNew(), holdsAdds };
      },
    }),
    // Takes no state over: it has no lock, and a pass of the earlier name may be under way.
    suspending: async (location, say) => clientMemory(await stateIn(location.file).begin(say), location),
    suspended: async (places) => {
      const there = [...new Set(places.map(({ file }) => file))].filter((file) => existsSync(file));
      const found = new Map<string, ReadonlyMap<string, readonly Suspension[]>>();
      for (const file of there) found.set(file, await allSuspensions(await stateIn(file).begin()));
      return places.map(({ file, scope }) => found.get(file)?.get(scope) ?? []);
    },
    close: async () => {
      await Promise.all([...files.values()].map((state) => state.close()));
    },
  };
};
