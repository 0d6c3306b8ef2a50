import { existsSync, rmSync } from 'node:fs';
import type { ClientMemory } from './client-memory.ts';
import { filesOf } from './database.ts';
import { createMemoryKeeper } from './kept-memory.ts';
import type { MemoryKeeper } from './memory-keeper.ts';
import type { MemoryPlace } from './memory-place.ts';
import { openForReading } from './read-copy.ts';
import type { SnapshotStore } from './snapshots.ts';

/** Where the state is saved. */
export interface StateStore {
  /** For the passes of one client. */
  keeper(warn: (message: string) => void): MemoryKeeper;
  /** The caller closes it; null if there is no state yet. */
  openForReading(place: MemoryPlace): Promise<ClientMemory | null>;
  /** Template files that processes share; null where each has its own. */
  readonly snapshots: SnapshotStore | null;
  /** Removes the state for the embedded service, which starts again. */
  forget(place: MemoryPlace): Promise<void>;
  close(): Promise<void>;
}

/** Each client's state in a file of its state directory. */
export const fileStore: StateStore = {
  keeper: createMemoryKeeper,
  snapshots: null,
  openForReading: async ({ file, digest }) => {
    if (!existsSync(file)) return null;
    const memory = await openForReading(file, digest);
    return { ...memory, close: () => memory.close('later') };
  },
  forget: ({ file }) => {
    for (const one of filesOf(file)) rmSync(one, { force: true });
    return Promise.resolve();
  },
  close: () => Promise.resolve(),
};
