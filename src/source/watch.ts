import { watch } from 'node:fs';
import path from 'node:path';
import type { Logger } from 'pino';

/** What somebody who looks at files has found. */
export interface Look {
  /** Something else than was taken last, another object after each further change; null: the same. */
  readonly change: unknown;
  /** The directories with the files: real path and identity, which differs if one was replaced. */
  readonly directories: ReadonlyMap<string, string>;
}

export interface WatchOptions {
  /** Directories and files; they need not exist yet. */
  readonly paths: readonly string[];
  readonly look: () => Promise<Look>;
  readonly onChange: () => void;
  readonly log: Logger;
  /** Milliseconds without a further event after which a change counts as complete. */
  readonly quiet?: number;
  /** Milliseconds after which a change is reported although events go on. */
  readonly maxDelay?: number;
  /** Milliseconds between two looks without an event. */
  readonly poll?: number;
}

export interface Watcher {
  readonly close: () => Promise<void>;
}

/** Of this process: one for each client. */
let open = 0;

/**
 * Calls `onChange` when a look finds a change that was not reported. Events of the file system are only hints when to
 * look, and a regular look misses nothing.
 */
export const watchFiles = ({
  paths,
  look,
  onChange,
  log,
  quiet = 200,
  maxDelay = 2_000,
  poll = 2_000,
}: WatchOptions): Watcher => {
  let reported: unknown = null;
  let firstEventAt: number | null = null;
  /** When to look, by the monotonic clock. The first look finds the directories to watch. */
  let lookAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;
  let isClosed = false;

  /** Waits until the files are quiet: what is read at the first event is mostly an old state. */
  const onEvent = (): void => {
    const now = performance.now();
    firstEventAt ??= now;
    lookAt = Math.min(now + quiet, firstEventAt + maxDelay);
    wait();
  };

  const wait = (): void => {
    clearTimeout(timer);
    if (isClosed || looking !== null) return;
    const begin = (): void => {
      looking = lookNow().finally(() => {
        looking = null;
        wait();
      });
    };
    timer = setTimeout(begin, Math.max(0, lookAt - performance.now()));
  };

  const lookNow = async (): Promise<void> => {
    const begun = performance.now();
    const isAfterEvent = firstEventAt !== null;
    firstEventAt = null;
    const { change, directories } = await look();
    if (isClosed) return;
    const now = performance.now();
    if (firstEventAt === null) lookAt = now + restAfter(now - begun, poll, open);
    hints.follow(directories);
    if (change === reported) return;
    // Somebody may still be at it.
    if (change !== null && !isAfterEvent) return onEvent();
    reported = change;
    if (change !== null) onChange();
  };

  const hints = openHints(paths, onEvent, log);
  open += 1;
  wait();
  return {
    close: async () => {
      isClosed = true;
      open -= 1;
      clearTimeout(timer);
      hints.follow(null);
      await looking;
    },
  };
};

/**
 * Milliseconds from a look that took so long to the next. Looks take a three-hundredth of the time, unless
 * changes would be found three times as late; and never more than a tenth. All watchers together look at most once
 * in six milliseconds.
 */
export const restAfter = (elapsed: number, poll: number, count: number): number =>
  Math.max(poll, Math.min(elapsed * 300, poll * 3), elapsed * 10, count * 6);

/**
 * Watches the directories that are read, and the parent of each path, since it may be a link or be replaced. A link further
 * up that is turned is left to the looks.
 */
const openHints = (paths: readonly string[], onEvent: () => void, log: Logger) => {
  const given = new Set(paths.map((one) => path.resolve(one)));
  const parents = new Map([...given].map((one) => [path.dirname(one), 'parent']));
  const watched = new Map<string, { readonly close: () => void }>();
  let isDegraded = false;
  const watchOne = (directory: string, isRead: boolean): { readonly close: () => void } | null => {
    try {
      const watcher = watch(directory, (_, name) => {
        if (isRead || name === null || given.has(path.join(directory, name))) onEvent();
      });
      // A directory that went away.
      return watcher.on('error', () => watcher.close());
    } catch (error) {
      // Mostly the system has no watches left.
      if (!isMissing(error) && !isDegraded)
        log.warn({ event: 'watch.degraded', err: error }, 'changed files are noticed by polling only');
      isDegraded ||= !isMissing(error);
      return null;
    }
  };
  return {
    /** From now on watches these directories; null: none. A directory that replaced another one is another one. */
    follow: (directories: ReadonlyMap<string, string> | null): void => {
      const wanted = new Map<string, string>();
      for (const [directory, identity] of directories === null ? [] : [...parents, ...directories])
        wanted.set(`${identity} ${directory}`, directory);
      for (const [key, watcher] of watched)
        if (!wanted.has(key)) {
          watcher.close();
          watched.delete(key);
        }
      for (const [key, directory] of wanted) {
        const watcher = watched.has(key) ? null : watchOne(directory, !key.startsWith('parent '));
        if (watcher !== null) watched.set(key, watcher);
      }
    },
  };
};

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
