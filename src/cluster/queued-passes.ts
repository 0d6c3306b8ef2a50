import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import {
  delayAfter,
  type PassCause,
  type PassLoopOptions,
  type PassLoopState,
  type PassOutcome,
  type PassStarter,
} from '../daemon/passes/loop.ts';
import type { Trigger } from '../result.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { PassJob, WaitingPass } from './pass-queue.ts';
import { cronTimes } from '../daemon/passes/cron-times.ts';

/** The result of a job's pass. `handed-over`: it was not made, or not completed, since this process ends. */
export type JobOutcome = PassOutcome | 'handed-over';

export interface QueuedPassesOptions {
  readonly client: PassLoopOptions & {
    readonly settings: () => Pick<ClientSettings, 'name' | 'baseUrl' | 'schedule' | 'timezone'>;
  };
  /** Requests a pass by any process, before scheduled ones. Returns its id, or null if that was not possible. */
  readonly ask: (pass: WaitingPass) => Promise<string | null>;
  readonly onClose: () => void;
}

/** The passes of one client that this process makes when the queue assigns them. */
export class QueuedPasses implements PassStarter {
  readonly #options: QueuedPassesOptions;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  #running: { readonly trigger: Trigger; readonly ended: Promise<unknown> } | null = null;
  #asked: Trigger | null = null;
  #failures = 0;
  #backoffUntil: Date | null = null;

  constructor(options: QueuedPassesOptions) {
    this.#options = options;
    this.#log = options.client.log;
  }

  get state(): PassLoopState {
    return {
      running: this.#running?.trigger ?? null,
      waiting: this.#asked,
      failures: this.#failures,
      backoffUntil: this.#backoffUntil,
    };
  }

  /** Of the hosting service. */
  get server(): string {
    return new URL(this.#options.client.settings().baseUrl).host;
  }

  /** The first of its passes. */
  get first(): WaitingPass {
    return this.#waiting('startup', 0);
  }

  /** The queue knows the schedule, and what waits at a start. Others make what is asked for while this one ends. */
  trigger(trigger: Trigger): void {
    if (trigger === 'file-change' || trigger === 'request') void this.#ask(trigger);
  }

  request(): Promise<string | null> {
    return this.#ask('request');
  }

  #ask(trigger: Trigger): Promise<string | null> {
    this.#asked = trigger;
    const asked = this.#options.ask(this.#waiting(trigger, this.#failures));
    this.#options.client.onState?.();
    return asked;
  }

  /** What is shown of it is new. */
  changed(): void {
    this.#options.client.onState?.();
  }

  /** Another process has made one. */
  wasMade(): void {
    this.#asked = null;
    this.#failures = 0;
    this.#backoffUntil = null;
  }

  /** Each pass is a full one: comparisons of other processes are not known here. */
  async run({ id, retryCount, trigger, failures }: PassJob): Promise<JobOutcome> {
    if (this.#closing.signal.aborted) return 'handed-over';
    // One that was given up may be in its last moments here.
    if (this.#running !== null) return 'busy';
    this.#asked = null;
    // A process that died may have used the job's id for writes.
    const pass = this.#outcomeOf({ run: retryCount === 0 ? id : randomUUID(), trigger });
    this.#running = { trigger, ended: pass };
    this.#options.client.onState?.();
    const outcome = await pass;
    this.#running = null;
    this.#failures = failuresAfter(outcome, failures);
    this.#options.client.onState?.();
    return outcome;
  }

  /** What follows a pass, and after how many milliseconds. */
  next({ trigger, failures }: PassJob, outcome: PassOutcome): { pass: WaitingPass; delay: number } {
    const after = failuresAfter(outcome, failures);
    if (outcome === 'ok') {
      this.#backoffUntil = null;
      const { settings, dueAt = () => null } = this.#options.client;
      const toDue = Math.max(0, (dueAt() ?? Infinity) - Date.now());
      return { pass: this.#waiting('schedule', 0), delay: Math.min(delayToNext(settings()), toDue) };
    }
    const delay = delayAfter(outcome, after);
    this.#backoffUntil = new Date(Date.now() + delay);
    return { pass: this.#waiting(trigger, after), delay };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#options.onClose();
    await this.#running?.ended;
  }

  async #outcomeOf(cause: PassCause): Promise<JobOutcome> {
    const { signal } = this.#closing;
    try {
      const outcome = await this.#options.client.pass(cause, signal);
      return signal.aborted ? 'handed-over' : outcome;
    } catch (error) {
      this.#log.error(
        { event: 'pass.error', err: error, trigger: cause.trigger },
        'pass failed: unexpected error',
      );
      return signal.aborted ? 'handed-over' : 'failed';
    }
  }

  #waiting(trigger: Trigger, failures: number): WaitingPass {
    return { client: this.#options.client.settings().name, server: this.server, trigger, failures };
  }
}

const failuresAfter = (outcome: JobOutcome, failures: number): number => {
  if (outcome === 'ok') return 0;
  return outcome === 'busy' || outcome === 'handed-over' ? failures : failures + 1;
};

/**
 * Milliseconds from one pass of a client to its next by schedule. If all clients have the same schedule, their
 * passes are spread.
 *
 * | the schedule       | says      | the next pass                                |
 * |--------------------|-----------|----------------------------------------------|
 * | an hour or less    | how often | after that long, a tenth less or more        |
 * | longer             | when      | within six minutes of that time              |
 */
export const delayToNext = (
  { schedule, timezone }: Pick<ClientSettings, 'schedule' | 'timezone'>,
  random: () => number = Math.random,
): number => {
  const times = cronTimes(schedule, timezone);
  const interval = times.interval();
  if (interval <= hour) return interval * (0.9 + 0.2 * random());
  return times.next().getTime() - Date.now() + (random() * hour) / 10;
};

const hour = 3_600_000;
