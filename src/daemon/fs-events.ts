import path from 'node:path';
import { watch } from 'chokidar';
import type { Logger } from 'pino';

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
 * happened. The parent of each root is watched too, since a root may be a link or be replaced.
 */
export const watchFsEvents = ({ roots, onEvent, log }: FsEventOptions): FsEventWatch => {
  const all = [...new Set(roots.map((root) => path.resolve(root)))];
  const holders = all.map((root) => path.dirname(root));
  const concerns = (entry: string): boolean =>
    holders.includes(entry) || all.some((root) => entry === root || isShownBelow(root, entry));

  const watcher = watch([...new Set([...holders, ...all])], {
    ignored: (entry) => !concerns(entry),
    ignoreInitial: true,
    followSymlinks: false,
    atomic: false,
  });
  const close = (): Promise<void> => watcher.close();
  watcher.on('all', onEvent);
  // The only event for a directory that replaces another one of its name.
  watcher.on('raw', (_, name, details) => {
    if (concerns(path.join(folderIn(details), name || ''))) onEvent();
  });
  // Mostly the system has no watches left. Polling finds the changes.
  watcher.on('error', (error) => {
    if (!watcher.closed)
      log.warn({ event: 'watch.degraded', err: error }, 'changed files are noticed by polling only');
    void close();
  });
  return { close };
};

/** The directory of the entry that a raw event names. */
const folderIn = (details: unknown): string =>
  typeof details === 'object' && details !== null && 'watchedPath' in details
    ? String(details.watchedPath)
    : '';

/** Hidden entries hold no templates, except `..data`, with which the kubelet swaps all files at once. */
const isShownBelow = (root: string, entry: string): boolean =>
  entry.startsWith(root + path.sep) && !/(?:^|\/)\.(?!\.)/.test(entry.slice(root.length + 1));
