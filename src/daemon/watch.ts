import type { Logger } from 'pino';
import { fingerprints, type Fingerprint, type LookForFiles, type TakeFingerprint } from './fingerprint.ts';
import type { Hints } from './hints.ts';
import { watchForHints } from './hints.ts';

export interface WatchOptions {
  /** Directories and files; they need not exist yet. */
  readonly paths: readonly string[];
  readonly look: LookForFiles;
  readonly onChange: () => void;
  readonly log: Logger;
  /** Milliseconds without a further event after which a change counts as complete. */
  readonly quiet?: number;
  /** Milliseconds after which it is reported although events go on. */
  readonly maxDelay?: number;
  /** Milliseconds between two looks at the files. */
  readonly poll?: number;
}

export interface Watcher {
  readonly close: () => Promise<void>;
}

/**
 * Calls `onChange` after the files have changed. Resolves once it knows what they are like now: whatever is
 * read after that is either this state or is followed by a call.
 */
export const watchTemplates = async (options: WatchOptions): Promise<Watcher> => {
  const takeFingerprint = fingerprints(options.look);
  const watcher = new TemplateWatcher(options, takeFingerprint, await takeFingerprint());
  watcher.start();
  return watcher;
};

/**
 * Events of the file system are hints, and so is a look at the files every now and then, which misses nothing.
 * A hint is followed by silence, then by a comparison with what was last reported; only that leads to a call.
 */
class TemplateWatcher implements Watcher {
  readonly #options: Required<WatchOptions>;
  readonly #takeFingerprint: TakeFingerprint;
  #hints: Hints | null = null;
  #reported: Fingerprint;
  /** What the last look saw, reported or not. */
  #seen: string;
  #firstHint: number | null = null;
  #quiet: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  #comparing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: WatchOptions, takeFingerprint: TakeFingerprint, now: Fingerprint) {
    this.#options = { quiet: 200, maxDelay: 2_000, poll: 2_000, ...options };
    this.#takeFingerprint = takeFingerprint;
    this.#reported = now;
    this.#seen = now.whole;
  }

  start(): void {
    this.#watch();
    this.#pollAfter(this.#options.poll);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#quiet);
    clearTimeout(this.#poll);
    await Promise.all([this.#hints?.close(), this.#comparing]);
  }

  #watch(): void {
    const { paths, log } = this.#options;
    void this.#hints?.close();
    this.#hints = watchForHints({
      roots: [...paths, ...this.#reported.realRoots],
      onHint: () => this.#hint(),
      log,
    });
  }

  #hint(): void {
    if (this.#closed) return;
    const { quiet, maxDelay } = this.#options;
    const now = performance.now();
    this.#firstHint ??= now;
    clearTimeout(this.#quiet);
    const wait = Math.min(quiet, this.#firstHint + maxDelay - now);
    this.#quiet = setTimeout(() => {
      this.#firstHint = null;
      this.#comparing = this.#comparing.then(() => this.#compare());
    }, wait);
  }

  async #compare(): Promise<void> {
    const now = await this.#takeFingerprint();
    if (this.#closed) return;
    const before = this.#reported;
    this.#seen = now.whole;
    this.#reported = now;
    // The system's watches stay with a directory that was moved away, and are none of what took its place.
    if (now.directories !== before.directories) this.#watch();
    if (now.whole !== before.whole) this.#options.onChange();
  }

  #pollAfter(wait: number): void {
    this.#poll = setTimeout(() => void this.#look(), wait);
  }

  async #look(): Promise<void> {
    const begun = performance.now();
    const { whole } = await this.#takeFingerprint();
    if (this.#closed) return;
    if (whole !== this.#seen) this.#hint();
    this.#seen = whole;
    // Looking at very many files takes no more than a small part of the time.
    this.#pollAfter(Math.max(this.#options.poll, (performance.now() - begun) * 10));
  }
}
