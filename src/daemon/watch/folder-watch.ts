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
  const name = path.basename(one.entry);
  const folder = folderAt(directory);
  const ofName = folder.watches.get(name) ?? new Set();
  folder.watches.set(name, ofName.add(one));
  if (folder.error !== null) one.onError(folder.error);
  return () => {
    ofName.delete(one);
    if (ofName.size === 0 && folder.watches.get(name) === ofName) folder.watches.delete(name);
    if (folder.watches.size > 0) return;
    folder.watcher?.close();
    if (folders.get(directory) === folder) folders.delete(directory);
  };
};

interface Folder {
  /** Of the directory; null if it was not there. */
  readonly identity: string | null;
  /** By the names of entries. */
  readonly watches: Map<string, Set<EntryWatch>>;
  /** Null if it could not be opened, or has failed. */
  watcher: FSWatcher | null;
  error: unknown;
}

const folders = new Map<string, Folder>();

/** A watcher stays with a directory that was moved away, and ends with one that was removed. */
const folderAt = (directory: string): Folder => {
  const identity = identityOf(directory);
  const known = folders.get(directory);
  const isOpen = known?.watcher != null && identity !== null && known.identity === identity;
  return isOpen ? known : openFolder(directory, identity);
};

/** A directory may have the number of one that was removed. */
const identityOf = (directory: string): string | null => {
  try {
    const { dev, ino, birthtimeNs } = statSync(directory, { bigint: true });
    return `${dev}:${ino} ${birthtimeNs}`;
  } catch {
    return null;
  }
};

const openFolder = (directory: string, identity: string | null): Folder => {
  const folder: Folder = { identity, watches: new Map(), watcher: null, error: null };
  const everyone = (): EntryWatch[] => [...folder.watches.values()].flatMap((ofName) => [...ofName]);
  const fail = (error: unknown): void => {
    folder.watcher?.close();
    folder.watcher = null;
    folder.error = error;
    for (const { onError } of everyone()) onError(error);
  };
  folders.set(directory, folder);
  try {
    folder.watcher = watch(directory, (_, name) => {
      const concerned = name === null ? everyone() : [...(folder.watches.get(name) ?? [])];
      for (const { onEvent } of concerned) onEvent();
    });
    folder.watcher.on('error', fail);
  } catch (error) {
    // A directory that is not there yet is found by polling.
    if (!isAbsence(error)) fail(error);
  }
  return folder;
};

const isAbsence = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
