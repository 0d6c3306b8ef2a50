import { existsSync, rmSync } from 'node:fs';
import type { ClientMemory } from './client-memory.ts';
import { filesOf } from './database.ts';
import { fileStoreHandle } from './file-store-handle.ts';
import type { StoreHandle } from './store-handle.ts';
import type { StoreLocation } from './store-location.ts';
import { borrowForReading } from './read-copy.ts';
import type { SnapshotStore } from './snapshots.ts';
import { openMemory, suspensionsInFile } from './sqlite.ts';
import type { SavedAt } from '../model/saved-at.ts';
import type { Suspension } from '../model/suspension.ts';

/** Where the state is saved. */
export interface StateStore {
  /** For the passes of one client. */
  handle(warn: (message: string) => void): StoreHandle;
  /** The caller closes it; null if there is no state yet. */
  openForReading(location: StoreLocation): Promise<ClientMemory | null>;
  /** What is suspended at the moment, of all clients at once. */
  suspended(places: readonly SavedAt[]): Promise<readonly (readonly Suspension[])[]>;
  /** Template files that processes share; null where each has its own. */
  readonly snapshots: SnapshotStore | null;
  /** Removes the state for the embedded service, which starts again. */
  forget(location: StoreLocation): Promise<void>;
  close(): Promise<void>;
}

/** Each client's state in a file of its state directory. */
export const fileStore = (now: () => number): StateStore => ({
  handle: (warn) => fileStoreHandle(warn, now),
  suspended: async (places) => {
    const files = [...new Set(places.map(({ file }) => file))].filter((file) => existsSync(file));
    const found = await Promise.all(files.map((file) => suspensionsInFile(file, now())));
    const byFile = new Map(files.map((file, index) => [file, found[index]!]));
    return places.map(({ file, digest }) => byFile.get(file)?.get(digest) ?? []);
  },
  snapshots: null,
  openForReading: async ({ file, digest }) => {
    if (!existsSync(file)) return null;
    const memory = await openMemory(file, digest, borrowForReading, now);
    return { ...memory, close: () => memory.close('later') };
  },
  forget: ({ file }) => {
    for (const one of filesOf(file)) rmSync(one, { force: true });
    return Promise.resolve();
  },
  close: () => Promise.resolve(),
});
