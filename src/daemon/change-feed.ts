import { randomUUID } from 'node:crypto';

/**
 * Tells those who look that what they see is no longer the newest. How many changes there were does not matter to
 * them: a burst is told once at its start and then once a second.
 */
export class ChangeFeed {
  /** Differs from that of an earlier run of the program, whose numbers began at 0 too. */
  readonly #boot = randomUUID().slice(0, 8);
  readonly #listeners = new Set<(version: string) => void>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #notifiedAt = -Infinity;

  /** Of what can be seen now. The same version means that nothing has changed. */
  get version(): string {
    return `${this.#boot}-${this.#count}`;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Something that can be seen has changed. */
  readonly changed = (): void => {
    this.#count += 1;
    if (this.#timer !== undefined || this.#listeners.size === 0) return;
    const wait = Math.max(minDelay, this.#notifiedAt + minInterval - performance.now());
    this.#timer = setTimeout(() => this.#notify(), wait).unref();
  };

  /** Gives the function that ends it. */
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

/** Milliseconds: what changes within it is told as one, and the pause between two tellings. */
const minDelay = 50;
const minInterval = 1_000;
