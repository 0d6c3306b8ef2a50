import path from 'node:path';
import { watch } from 'chokidar';
import type { Logger } from 'pino';

export interface FsEventOptions {
  /** The roots as they were named, and the real paths that they lead to at present. */
  readonly roots: readonly string[];
  readonly onEvent: () => void;
  readonly log: Logger;
}

export interface FsEventWatch {
  readonly close: () => Promise<void>;
}

/**
 * Events of the file system near the roots. They may come late, twice or not at all, and tell nothing of what
 * happened; the directory that holds a root is watched with it, since a root may be a link or be replaced.
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
  // A directory that takes the place of another under its name is no event but this.
  watcher.on('raw', (_, name, details) => {
    if (concerns(path.join(folderIn(details), name || ''))) onEvent();
  });
  // Most often the system has no more watches to give; what is missed then is found by looking.
  watcher.on('error', (error) => {
    if (!watcher.closed)
      log.warn({ event: 'watch.degraded', err: error }, 'changed files are noticed by polling only');
    void close();
  });
  return { close };
};

/** Where the entry is that a raw event names. */
const folderIn = (details: unknown): string =>
  typeof details === 'object' && details !== null && 'watchedPath' in details
    ? String(details.watchedPath)
    : '';

/** Hidden entries hold no templates, but for `..data`, by which the kubelet swaps all files at once. */
const isShownBelow = (root: string, entry: string): boolean =>
  entry.startsWith(root + path.sep) && !/(?:^|\/)\.(?!\.)/.test(entry.slice(root.length + 1));
