import { lstatSync } from 'node:fs';
import path from 'node:path';
import { watch } from 'chokidar';
import type { Logger } from 'pino';
import { watchEntry } from './folder-watch.ts';

export interface FsEventOptions {
  /** The roots as configured, and the real paths that they resolve to now. */
  readonly roots: readonly string[];
  readonly onEvent: () => void;
  readonly log: Logger;
}

export interface FsEventWatch {
  readonly close: () => Promise<void>;
}

/**
 * Watches the file system near the roots. Events may come late, twice or not at all, and do not say what
 * happened. The parent of each root is watched too, since a root may be a link or be replaced; so is that of each link on
 * the way.
 */
export const watchFsEvents = ({ roots, onEvent, log }: FsEventOptions): FsEventWatch => {
  const all = [...new Set(roots.map((root) => path.resolve(root)))];
  const concerns = (entry: string): boolean =>
    all.some((root) => entry === root || isShownBelow(root, entry));

  let isDegraded = false;
  // Mostly the system has no watches left. Polling finds the changes.
  const onError = (error: unknown): void => {
    if (!watcher.closed && !isDegraded)
      log.warn({ event: 'watch.degraded', err: error }, 'changed files are noticed by polling only');
    isDegraded = true;
    void close();
  };
  const watcher = watch(all, {
    ignored: (entry) => !concerns(entry),
    ignoreInitial: true,
    followSymlinks: false,
    atomic: false,
  });
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0)) end();
    await watcher.close();
  };
  watcher.on('all', onEvent);
  // The only event for a directory that replaces another one of its name.
  watcher.on('raw', (_, name, details) => {
    if (concerns(path.join(folderIn(details), name || ''))) onEvent();
  });
  watcher.on('error', onError);
  const ends: (() => void)[] = [];
  for (const entry of new Set(all.flatMap(turningPointsOf)))
    ends.push(watchEntry({ entry, onEvent, onError }));
  if (isDegraded) void close();
  return { close };
};

/** The root itself, and every link on the way to it. */
const turningPointsOf = (root: string): string[] => [root, ...directoriesAbove(root).filter(isLink)];

const directoriesAbove = (entry: string): string[] => {
  const parent = path.dirname(entry);
  return parent === entry ? [] : [parent, ...directoriesAbove(parent)];
};

const isLink = (entry: string): boolean => {
  try {
    return lstatSync(entry).isSymbolicLink();
  } catch {
    return false;
  }
};

/** The directory of the entry that a raw event names. */
const folderIn = (details: unknown): string =>
  typeof details === 'object' && details !== null && 'watchedPath' in details
    ? String(details.watchedPath)
    : '';

/** Hidden entries hold no templates, except `..data`, with which the kubelet swaps all files at once. */
const isShownBelow = (root: string, entry: string): boolean =>
  entry.startsWith(root + path.sep) && !/(?:^|\/)\.(?!\.)/.test(entry.slice(root.length + 1));
