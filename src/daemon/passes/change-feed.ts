import { randomUUID } from 'node:crypto';

/**
 * Notifies listeners that what they show is out of date. The number of changes does not matter to them: in a
 * burst they are called once at its start and then once a second.
 */
export class ChangeFeed {
  /** Makes versions differ from those of an earlier run, which also counted from 0. */
  readonly #boot = randomUUID().slice(0, 8);
  readonly #listeners = new Set<(version: string) => void>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #notifiedAt = -Infinity;

  /** The version of the visible state. The same version means that nothing has changed. */
  get version(): string {
    return `${this.#boot}-${this.#count}`;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** To be called when something visible has changed. */
  readonly changed = (): void => {
    this.#count += 1;
    if (this.#timer !== undefined || this.#listeners.size === 0) return;
    const wait = Math.max(minDelay, this.#notifiedAt + minInterval - performance.now());
    this.#timer = setTimeout(() => this.#notify(), wait).unref();
  };

  /** Returns a function that removes the listener. */
  listen(listener: (version: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #notify(): void {
    this.#timer = undefined;
    this.#notifiedAt = performance.now();
    for (const listener of this.#listeners) listener(this.version);
  }
}

/** Milliseconds: changes within `minDelay` are one notification, and two notifications are `minInterval` apart. */
const minDelay = 50;
const minInterval = 1_000;
