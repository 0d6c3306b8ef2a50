import { sleep } from '../lib/sleep.ts';
import type { WaitingPass } from './pass-queue.ts';

export interface RequestedPassesOptions {
  /** Puts one into the queue, before others. Returns whether that was possible. */
  readonly put: (pass: WaitingPass) => Promise<boolean>;
  /** Some are in the queue now. */
  readonly onPut: () => void;
  /** Milliseconds after which the others are tried again. */
  readonly pause: number;
}

/**
 * Requests for passes on their way to the queue, a few at a time: thousands of clients may ask at once. A request
 * stays until the queue has it; it replaces an earlier one of its client.
 */
export class RequestedPasses {
  readonly #options: RequestedPassesOptions;
  readonly #waiting = new Map<string, WaitingPass>();
  readonly #closing = new AbortController();
  #putting: Promise<void> | null = null;

  constructor(options: RequestedPassesOptions) {
    this.#options = options;
  }

  add(pass: WaitingPass): void {
    this.#waiting.set(pass.client, pass);
    this.#putting ??= this.#putAll().finally(() => (this.#putting = null));
  }

  /** Puts what waits, for nobody else knows of it; what fails now is found by schedules. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#putting;
  }

  async #putAll(): Promise<void> {
    const { onPut, pause } = this.#options;
    const { signal } = this.#closing;
    while (this.#waiting.size > 0) {
      const some = [...this.#waiting.values()].slice(0, atOnce);
      const results = await Promise.all(some.map((pass) => this.#put(pass)));
      if (results.includes(true)) onPut();
      if (!results.includes(false)) continue;
      if (signal.aborted) return;
      await sleep(pause, signal);
    }
  }

  async #put(pass: WaitingPass): Promise<boolean> {
    const isPut = await this.#options.put(pass);
    // A newer request of the client has come meanwhile.
    if (isPut && this.#waiting.get(pass.client) === pass) this.#waiting.delete(pass.client);
    return isPut;
  }
}

/** As many as the queue has connections. */
const atOnce = 4;
