import { existsSync, lstatSync, realpathSync, watch as watchFolder } from 'node:fs';
import path from 'node:path';
import { watch } from 'chokidar';
import type { Logger } from 'pino';
import { atMostEvery } from '../lib/at-most-every.ts';
import { sameElements } from '../lib/same-elements.ts';

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
  const given = paths.map((one) => path.resolve(one));
  let roots: readonly string[] = [];
  let events: Watcher | null = null;
  /** The directories that are watched. */
  let watched: string | null = null;
  let reported: unknown = null;
  let firstEventAt: number | null = null;
  /** When to look, by the monotonic clock. */
  let lookAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;
  let isClosed = false;
  const mayLog = atMostEvery(60_000);

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
      looking = lookNow()
        .catch(lookAgain)
        .finally(() => {
          looking = null;
          wait();
        });
    };
    timer = setTimeout(begin, Math.max(0, lookAt - performance.now()));
  };

  /** A look that fails ends nothing: the next one may not. */
  const lookAgain = (error: unknown): void => {
    if (mayLog())
      log.error({ event: 'watch.error', err: error }, 'cannot look whether files have changed; will retry');
    lookAt = performance.now() + restAfter(0, poll, open);
  };

  const lookNow = async (): Promise<void> => {
    const begun = performance.now();
    const isAfterEvent = firstEventAt !== null;
    firstEventAt = null;
    const { change, directories } = await look();
    if (isClosed) return;
    const now = performance.now();
    if (firstEventAt === null) lookAt = now + restAfter(now - begun, poll, open);
    rewatch([...directories].join('\n'));
    if (change === reported) return;
    // Somebody may still be at it.
    if (change !== null && !isAfterEvent) return onEvent();
    reported = change;
    if (change !== null) onChange();
  };

  /** Watches follow a directory that was moved away and do not see its replacement. */
  const rewatch = (directories: string | null): void => {
    const now = [...new Set([...given, ...given.map((one) => orElse(() => realpathSync(one), one))])];
    const isSame = sameElements(roots, now) && (watched === null || watched === directories);
    watched = directories;
    if (isSame) return;
    roots = now;
    void events?.close();
    events = watchEvents(roots, onEvent, log);
  };

  open += 1;
  lookAt = performance.now() + restAfter(0, poll, open);
  rewatch(null);
  wait();
  return {
    close: async () => {
      isClosed = true;
      open -= 1;
      clearTimeout(timer);
      await Promise.all([events?.close(), looking]);
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
 * Watches the file system near these paths and where they lead. Events may come late, twice or not at all, and do not say
 * what happened. The parent of each path is watched too, since it may be a link or be replaced; so is that of each link on
 * the way: without chokidar, which would list all that is in it.
 */
const watchEvents = (roots: readonly string[], onEvent: () => void, log: Logger): Watcher => {
  const watcher = watch([...roots], {
    ignored: (entry) => !roots.some((root) => entry === root || isShownBelow(root, entry)),
    ignoreInitial: true,
    followSymlinks: false,
    atomic: false,
  });
  const folders: { readonly close: () => void }[] = [];
  const close = async (): Promise<void> => {
    for (const folder of folders.splice(0)) folder.close();
    await watcher.close();
  };
  // Mostly the system has no watches left. Polling finds the changes.
  const onError = (error: unknown): void => {
    if (!watcher.closed)
      log.warn({ event: 'watch.degraded', err: error }, 'changed files are noticed by polling only');
    void close();
  };
  watcher.on('all', onEvent).on('error', onError);
  for (const entry of new Set(roots.flatMap(turningPointsOf))) {
    const holder = path.dirname(entry);
    // One that is not there yet is found by polling.
    if (watcher.closed || !existsSync(holder)) continue;
    try {
      const folder = watchFolder(holder, (_, name) => {
        if (name === null || name === path.basename(entry)) onEvent();
      });
      folders.push(folder.on('error', onError));
    } catch (error) {
      onError(error);
    }
  }
  return { close };
};

/** The path itself, and every link on the way to it. */
const turningPointsOf = (entry: string): string[] => {
  const above = path.dirname(entry);
  const isLink = orElse(() => lstatSync(above).isSymbolicLink(), false);
  return above === path.dirname(above) ? [entry] : [entry, ...turningPointsOf(above).slice(isLink ? 0 : 1)];
};

const orElse = <T>(task: () => T, other: T): T => {
  try {
    return task();
  } catch {
    return other;
  }
};

/** Hidden entries hold no templates, except `..data`, with which the kubelet swaps all files at once. */
const isShownBelow = (root: string, entry: string): boolean =>
  entry.startsWith(root + path.sep) && !/(?:^|\/)\.(?!\.)/.test(entry.slice(root.length + 1));
