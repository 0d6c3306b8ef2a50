import type { Logger } from 'pino';
import { fingerprints, type Fingerprint, type ScanFiles, type TakeFingerprint } from './fingerprint.ts';
import type { FsEventWatch } from './fs-events.ts';
import { watchFsEvents } from './fs-events.ts';

export interface WatchOptions {
  /** Directories and files; they need not exist yet. */
  readonly paths: readonly string[];
  readonly scan: ScanFiles;
  readonly onChange: () => void;
  readonly log: Logger;
  /** Milliseconds without a further event after which a change counts as complete. */
  readonly quiet?: number;
  /** Milliseconds after which a change is reported although events go on. */
  readonly maxDelay?: number;
  /** Milliseconds between two scans of the files. */
  readonly poll?: number;
}

export interface Watcher {
  readonly close: () => Promise<void>;
}

/**
 * Calls `onChange` after the files have changed. Resolves when it knows their current state: whatever is read
 * after that is either this state or is followed by a call.
 */
export const watchTemplates = async (options: WatchOptions): Promise<Watcher> => {
  const takeFingerprint = fingerprints(options.scan);
  const watcher = new TemplateWatcher(options, takeFingerprint, await takeFingerprint());
  watcher.start();
  return watcher;
};

/**
 * Events of the file system, and a regular scan that misses nothing, are only hints. After a hint it waits
 * until the files are quiet and compares them with the last reported state; only a difference leads to a
 * call.
 */
class TemplateWatcher implements Watcher {
  readonly #options: Required<WatchOptions>;
  readonly #takeFingerprint: TakeFingerprint;
  #fsEvents: FsEventWatch | null = null;
  #reported: Fingerprint;
  /** The result of the last scan, reported or not. */
  #lastScan: string;
  #firstEventAt: number | null = null;
  #quietTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #comparing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: WatchOptions, takeFingerprint: TakeFingerprint, now: Fingerprint) {
    this.#options = { quiet: 200, maxDelay: 2_000, poll: 2_000, ...options };
    this.#takeFingerprint = takeFingerprint;
    this.#reported = now;
    this.#lastScan = now.files;
  }

  start(): void {
    open.add(this);
    this.#watch();
    this.#pollAfter(restAfter(0, this.#options.poll, open.size));
  }

  async close(): Promise<void> {
    this.#closed = true;
    open.delete(this);
    clearTimeout(this.#quietTimer);
    clearTimeout(this.#pollTimer);
    await Promise.all([this.#fsEvents?.close(), this.#comparing]);
  }

  #watch(): void {
    const { paths, log } = this.#options;
    void this.#fsEvents?.close();
    this.#fsEvents = watchFsEvents({
      roots: [...paths, ...this.#reported.realRoots],
      onEvent: () => this.#onEvent(),
      log,
    });
  }

  #onEvent(): void {
    if (this.#closed) return;
    const { quiet, maxDelay } = this.#options;
    const now = performance.now();
    this.#firstEventAt ??= now;
    clearTimeout(this.#quietTimer);
    const wait = Math.min(quiet, this.#firstEventAt + maxDelay - now);
    this.#quietTimer = setTimeout(() => {
      this.#firstEventAt = null;
      this.#comparing = this.#comparing.then(() => this.#compare());
    }, wait);
  }

  async #compare(): Promise<void> {
    const now = await this.#takeFingerprint();
    if (this.#closed) return;
    const before = this.#reported;
    this.#lastScan = now.files;
    this.#reported = now;
    // Watches follow a directory that was moved away and do not see its replacement.
    if (now.directories !== before.directories) this.#watch();
    if (now.files !== before.files) this.#options.onChange();
  }

  #pollAfter(wait: number): void {
    this.#pollTimer = setTimeout(() => void this.#poll(), wait);
  }

  async #poll(): Promise<void> {
    const begun = performance.now();
    const { files } = await this.#takeFingerprint();
    if (this.#closed) return;
    if (files !== this.#lastScan) this.#onEvent();
    this.#lastScan = files;
    this.#pollAfter(restAfter(performance.now() - begun, this.#options.poll, open.size));
  }
}

/** Of this process: one for each client. */
const open = new Set<TemplateWatcher>();

/**
 * Milliseconds from a scan that took so long to the next. Scanning takes a three-hundredth of the time, unless
 * changes would be found three times as late; and never more than a tenth. All watchers together scan at most once
 * in six milliseconds.
 */
export const restAfter = (elapsed: number, poll: number, count: number): number =>
  Math.max(poll, Math.min(elapsed * 300, poll * 3), elapsed * 10, count * 6);
