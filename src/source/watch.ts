import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { watch } from 'chokidar';
import type { Logger } from 'pino';
import { watchEntry } from './entry-watch.ts';

/** What somebody who looks at files has found. */
export interface Look {
  /** Something else than was taken last, another object after each further change; null: the same. */
  readonly change: unknown;
  /** The directories with the files: real path and identity, which differs if one was replaced. */
  readonly directories: ReadonlyMap<string, string>;
  /** Milliseconds after which a look may find something else by time alone; null: never. */
  readonly dueIn: number | null;
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

/**
 * Calls `onChange` when a look finds a change that was not reported. Events of the file system are only hints when to
 * look, and a regular look misses nothing.
 */
export const watchFiles = (options: WatchOptions): Watcher => {
  const watcher = new FileWatcher(options);
  open.add(watcher);
  watcher.start();
  return watcher;
};

class FileWatcher implements Watcher {
  readonly #options: Required<WatchOptions>;
  #events: EventWatch;
  #reported: unknown = null;
  /** Those that are watched. */
  #directories: string | null = null;
  #firstEventAt: number | null = null;
  /** By the monotonic clock; null: there was no event since the last look. */
  #eventAt: number | null = null;
  #pollAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = { quiet: 200, maxDelay: 2_000, poll: 2_000, ...options };
    this.#events = this.#watch();
  }

  start(): void {
    this.#pollAt += restAfter(0, this.#options.poll, open.size);
    this.#wait();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    open.delete(this);
    clearTimeout(this.#timer);
    await Promise.all([this.#events.close(), this.#looking]);
  }

  #watch(): EventWatch {
    const { paths, log } = this.#options;
    return watchEvents(paths, () => this.#onEvent(), log);
  }

  /** Waits until the files are quiet: what is read at the first event is mostly an old state. */
  #onEvent(): void {
    const { quiet, maxDelay } = this.#options;
    const now = performance.now();
    this.#firstEventAt ??= now;
    this.#eventAt = Math.min(now + quiet, this.#firstEventAt + maxDelay);
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#looking !== null) return;
    const isAfterEvent = this.#eventAt !== null;
    const at = this.#eventAt ?? this.#pollAt;
    this.#timer = setTimeout(
      () => {
        this.#looking = this.#look(isAfterEvent).finally(() => {
          this.#looking = null;
          this.#wait();
        });
      },
      Math.max(0, at - performance.now()),
    );
  }

  async #look(isAfterEvent: boolean): Promise<void> {
    const { look, onChange, poll } = this.#options;
    const begun = performance.now();
    this.#eventAt = this.#firstEventAt = null;
    const { change, directories, dueIn } = await look();
    if (this.#isClosed) return;
    const now = performance.now();
    this.#pollAt = now + Math.min(restAfter(now - begun, poll, open.size), dueIn ?? Infinity);
    this.#rewatch([...directories].join('\n'));
    if (change === this.#reported) return;
    // Somebody may still be at it.
    if (change !== null && !isAfterEvent) return this.#onEvent();
    this.#reported = change;
    if (change !== null) onChange();
  }

  /** Watches follow a directory that was moved away and do not see its replacement. */
  #rewatch(directories: string): void {
    const before = this.#directories;
    this.#directories = directories;
    if (before === null || before === directories) return;
    void this.#events.close();
    this.#events = this.#watch();
  }
}

/** Of this process: one for each client. */
const open = new Set<FileWatcher>();

/**
 * Milliseconds from a look that took so long to the next. Looks take a three-hundredth of the time, unless
 * changes would be found three times as late; and never more than a tenth. All watchers together look at most once
 * in six milliseconds.
 */
export const restAfter = (elapsed: number, poll: number, count: number): number =>
  Math.max(poll, Math.min(elapsed * 300, poll * 3), elapsed * 10, count * 6);

interface EventWatch {
  readonly close: () => Promise<void>;
}

/**
 * Watches the file system near these paths and where they lead. Events may come late, twice or not at all, and do not say
 * what happened. The parent of each path is watched too, since it may be a link or be replaced; so is that of each link on
 * the way.
 */
const watchEvents = (paths: readonly string[], onEvent: () => void, log: Logger): EventWatch => {
  const given = paths.map((one) => path.resolve(one));
  const all = [...new Set([...given, ...given.map(realPathOf)])];
  const concerns = (entry: string): boolean =>
    all.some((root) => entry === root || isShownBelow(root, entry));
  const watcher = watch(all, {
    ignored: (entry) => !concerns(entry),
    ignoreInitial: true,
    followSymlinks: false,
    atomic: false,
  });
  const ends: (() => void)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0)) end();
    await watcher.close();
  };
  // Mostly the system has no watches left. Polling finds the changes.
  const onError = (error: unknown): void => {
    if (!watcher.closed)
      log.warn({ event: 'watch.degraded', err: error }, 'changed files are noticed by polling only');
    void close();
  };
  watcher.on('all', onEvent);
  // The only event for a directory that replaces another one of its name.
  watcher.on('raw', (_, name, details) => {
    if (concerns(path.join(folderIn(details), name || ''))) onEvent();
  });
  watcher.on('error', onError);
  for (const entry of new Set(all.flatMap(turningPointsOf)))
    if (!watcher.closed) ends.push(watchEntry({ entry, onEvent, onError }));
  if (watcher.closed) void close();
  return { close };
};

const realPathOf = (entry: string): string => {
  try {
    return realpathSync(entry);
  } catch {
    return entry;
  }
};

/** The path itself, and every link on the way to it. */
const turningPointsOf = (entry: string): string[] => [entry, ...directoriesAbove(entry).filter(isLink)];

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
