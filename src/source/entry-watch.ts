import { statSync, watch, type FSWatcher } from 'node:fs';
import path from 'node:path';

export interface EntryWatch {
  /** The path of a file or directory, which need not exist. */
  readonly entry: string;
  readonly onEvent: () => void;
  /** The system refuses to watch. */
  readonly onError: (error: unknown) => void;
}

/**
 * Watches what happens to an entry of a directory: that it appears, is replaced, or goes. A directory that holds the
 * entries of thousands of clients is watched once for all of them. Returns a function that ends it.
 */
export const watchEntry = (one: EntryWatch): (() => void) => {
  const directory = path.dirname(one.entry);
  const folder = folderAt(directory);
  folder.watches.add(one);
  if (folder.error !== null) one.onError(folder.error);
  return () => {
    folder.watches.delete(one);
    if (folder.watches.size > 0) return;
    folder.watcher?.close();
    if (folders.get(directory) === folder) folders.delete(directory);
  };
};

interface Folder {
  /** Of the directory; null if it was not there. */
  readonly identity: string | null;
  readonly watches: Set<EntryWatch>;
  /** Null if it could not be opened, or has failed. */
  watcher: FSWatcher | null;
  error: unknown;
}

const folders = new Map<string, Folder>();

/** A watcher stays with a directory that was moved away, and ends with one that was removed. */
const folderAt = (directory: string): Folder => {
  // A directory may have the number of one that was removed.
  const stats = statSync(directory, { bigint: true, throwIfNoEntry: false });
  const identity = stats ? `${stats.dev}:${stats.ino} ${stats.birthtimeNs}` : null;
  const known = folders.get(directory);
  if (known?.watcher != null && identity !== null && known.identity === identity) return known;
  const folder: Folder = { identity, watches: new Set(), watcher: null, error: null };
  folders.set(directory, folder);
  // A directory that is not there yet is found by polling.
  if (identity !== null) open(directory, folder);
  return folder;
};

const open = (directory: string, folder: Folder): void => {
  const fail = (error: unknown): void => {
    folder.watcher?.close();
    folder.watcher = null;
    folder.error = error;
    for (const { onError } of folder.watches) onError(error);
  };
  try {
    folder.watcher = watch(directory, (_, name) => {
      for (const { entry, onEvent } of folder.watches)
        if (name === null || path.basename(entry) === name) onEvent();
    });
    folder.watcher.on('error', fail);
  } catch (error) {
    fail(error);
  }
};
