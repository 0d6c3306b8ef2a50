import type { Logger } from 'pino';
import { backoff } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import type { PassJob, PassQueue } from './pass-queue.ts';
import type { PausedServers } from './servers.ts';

export interface WorkerOptions {
  readonly queue: Pick<PassQueue, 'take' | 'renew'>;
  readonly servers: Pick<PausedServers, 'list'>;
  /** Makes the pass of a job and settles the job. */
  readonly run: (job: PassJob) => Promise<void>;
  readonly log: Logger;
  /** Milliseconds between two signs of life. */
  readonly renewal: number;
}

/** Takes passes from the queue, as many as it can make at the same time, and no more of one server than it may. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Map<PassJob, Promise<void>>();
  readonly #closing = new AbortController();
  #wake = new AbortController();
  #failures = 0;
  #loop: Promise<void> | null = null;
  #renewal: NodeJS.Timeout | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  start(): void {
    const { queue, renewal } = this.#options;
    this.#loop = this.#takeAll();
    this.#renewal = setInterval(() => {
      // Who cannot renew is given up, as it should be.
      queue.renew([...this.#running.keys()]).catch(() => undefined);
    }, renewal);
  }

  /** There may be something to do at once. */
  readonly wake = (): void => this.#wake.abort();

  /** Takes no more, and waits for what is running. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.wake();
    await this.#loop;
    await Promise.all(this.#running.values());
    clearInterval(this.#renewal);
  }

  async #takeAll(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#wake = new AbortController();
      const pause = await this.#take();
      // Passes that end at the same time are replaced at once.
      await sleep(moment, this.#closing.signal);
      await sleep(pause, this.#wake.signal);
    }
  }

  /** Returns the milliseconds until it should try again. */
  async #take(): Promise<number> {
    const { queue, servers, log } = this.#options;
    try {
      const { full, room } = this.#room();
      if (room === 0) return interval;
      const jobs = await queue.take(room, [...full, ...(await servers.list())]);
      for (const job of jobs) this.#begin(job);
      if (this.#failures > 0) log.info({ event: 'queue.back' }, 'the queue of passes can be used again');
      this.#failures = 0;
      return jobs.length === room ? 0 : interval;
    } catch (error) {
      if (this.#failures === 0)
        log.error({ event: 'queue.unusable', err: error }, 'no passes: their queue cannot be used');
      this.#failures += 1;
      return backoff(this.#failures, growth);
    }
  }

  /** How many more there may be, so that whatever comes no server has too many; `full` are those that have enough. */
  #room(): { full: readonly string[]; room: number } {
    const counts = new Map<string, number>();
    for (const { server } of this.#running.keys()) counts.set(server, (counts.get(server) ?? 0) + 1);
    const full = [...counts].flatMap(([server, count]) => (count >= mostOfServer ? server : []));
    const most = Math.max(0, ...[...counts.values()].filter((count) => count < mostOfServer));
    return { full, room: Math.min(mostAtOnce - this.#running.size, mostOfServer - most) };
  }

  #begin(job: PassJob): void {
    const ended = this.#options.run(job).finally(() => {
      const wasFull = this.#running.size >= mostOfServer;
      this.#running.delete(job);
      if (wasFull) this.wake();
    });
    this.#running.set(job, ended);
  }
}

/** More at once would need more memory and be no faster. One slow server leaves room for the others. */
const mostAtOnce = 16;
const mostOfServer = 12;

/** Milliseconds. */
const interval = 500;
const moment = 10;
const growth = { first: 500, max: 5_000, jitter: 0.5 };
