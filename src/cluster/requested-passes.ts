import { limit } from '../lib/limit.ts';
import { sleep } from '../lib/sleep.ts';
import type { WaitingPass } from './pass-queue.ts';

export interface RequestedPassesOptions {
  /** Puts one into the queue, before others. Returns its id, or null if that was not possible. */
  readonly put: (pass: WaitingPass) => Promise<string | null>;
  /** One is in the queue now. */
  readonly onPut: () => void;
  /** Milliseconds after which one that could not be put is tried again. */
  readonly pause: number;
}

/**
 * Requests for passes on their way to the queue, a few at a time: thousands of clients may ask at once. A request
 * stays until the queue has it; it replaces an earlier one of its client.
 */
export class RequestedPasses {
  readonly #options: RequestedPassesOptions;
  readonly #waiting = new Map<string, WaitingPass>();
  readonly #askers = new Map<string, ((id: string | null) => void)[]>();
  readonly #inTurn = limit(atOnce);
  readonly #closing = new AbortController();
  readonly #tasks = new Set<Promise<void>>();

  constructor(options: RequestedPassesOptions) {
    this.#options = options;
  }

  /** Its id in the queue after the next try; null after a failed one, which is repeated. */
  add(pass: WaitingPass): Promise<string | null> {
    const { client } = pass;
    const isOnItsWay = this.#waiting.has(client);
    this.#waiting.set(client, pass);
    const tried = new Promise<string | null>((resolve) => {
      this.#askers.set(client, [...(this.#askers.get(client) ?? []), resolve]);
    });
    if (isOnItsWay) return tried;
    const task = this.#inTurn(() => this.#putNewest(client)).finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
    return tried;
  }

  /** Puts what waits, for nobody else knows of it; once that fails, schedules find the rest. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#tasks);
  }

  #giveUp(): void {
    this.#waiting.clear();
    for (const answer of [...this.#askers.values()].flat()) answer(null);
    this.#askers.clear();
  }

  async #putNewest(client: string): Promise<void> {
    const { put, onPut, pause } = this.#options;
    const { signal } = this.#closing;
    for (let pass = this.#waiting.get(client); pass; pass = this.#waiting.get(client)) {
      const askers = this.#askers.get(client) ?? [];
      this.#askers.delete(client);
      const id = await put(pass);
      for (const answer of askers) answer(id);
      if (id !== null) {
        onPut();
        // A newer request of the client may have come meanwhile.
        if (this.#waiting.get(client) === pass) this.#waiting.delete(client);
      } else if (signal.aborted) this.#giveUp();
      else await sleep(pause, signal);
    }
  }
}

/** As many as the queue has connections. */
const atOnce = 4;
