import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { backoff } from '../../lib/backoff.ts';
import type { Trigger } from '../../result.ts';

/**
 * `busy`: another process holds the lock of this client, so there was no pass. `failedFor`: for so many milliseconds from now
 * on, no other pass makes sense; and only a person may ask for one where the service has had too many requests.
 */
export type PassOutcome =
  | 'ok'
  | 'busy'
  | 'failed'
  | { readonly failedFor: number; readonly isRateLimited: boolean };

/** Why a pass runs. */
export interface PassCause {
  /** The id of the pass. */
  readonly run: string;
  readonly trigger: Trigger;
}

export interface PassLoopOptions {
  /** One pass. It starts no new write once the signal is aborted, and then ends soon. */
  readonly pass: (cause: PassCause, signal: AbortSignal) => Promise<PassOutcome>;
  readonly log: Logger;
  /** Called after each change of the state. */
  readonly onState: () => void;
  /** When another pass may write changes that wait, in ms since the epoch; null if none do. */
  readonly dueAt: () => number | null;
  /** From 0 to 1, for the jitter of the backoff. */
  readonly random?: () => number;
}

/** The state of a loop, for the status page. */
export interface PassLoopState {
  readonly running: Trigger | null;
  readonly waiting: Trigger | null;
  /** Failed passes since the last successful one. */
  readonly failures: number;
  /** When the loop tries again; null if it does not back off. */
  readonly backoffUntil: Date | null;
}

/**
 * The passes of one client, one at a time. Requests during a pass are merged into one more pass.
 *
 * | after a pass | trigger              | next pass                              |
 * |--------------|----------------------|----------------------------------------|
 * | ok           | any                  | at once                                |
 * | failed       | file-change, request | at once: somebody did something        |
 * | failed       | others, or none      | after the backoff, which grows    |
 * | failed by too many requests | request alone is at once                 |
 * | busy         | as after a failed one, but the backoff stays short, and nothing has failed |
 */
export class PassLoop {
  readonly #options: PassLoopOptions;
  #isClosed = false;
  #running: {
    readonly trigger: Trigger;
    readonly stop: () => void;
    readonly ended: Promise<void>;
  } | null = null;
  #waiting: PassCause | null = null;
  #failures = 0;
  /** After which outcome, until when. */
  #backoff: { readonly outcome: PassOutcome; readonly until: Date } | null = null;
  #backoffTimer: NodeJS.Timeout | undefined;
  #dueTimer: NodeJS.Timeout | undefined;

  constructor(options: PassLoopOptions) {
    this.#options = options;
  }

  get state(): PassLoopState {
    return {
      running: this.#running?.trigger ?? null,
      waiting: this.#waiting?.trigger ?? null,
      failures: this.#failures,
      backoffUntil: this.#backoff?.until ?? null,
    };
  }

  /** Returns the id of the pass, which is this one unless another one waits already; null at the end of the process. */
  trigger(trigger: Trigger, run: string = randomUUID()): string | null {
    if (this.#isClosed) return null;
    const cause = coalesce(this.#waiting, { run, trigger });
    this.#waiting = cause;
    if (!this.#running && (!this.#backoff || bypasses(trigger, this.#backoff.outcome))) this.#start(cause);
    this.#options.onState();
    return cause.run;
  }

  /** No further pass; resolves when the running one has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#running?.stop();
    this.#waiting = null;
    this.#endBackoff();
    clearTimeout(this.#dueTimer);
    await this.#running?.ended;
  }

  #start(cause: PassCause): void {
    this.#waiting = null;
    this.#endBackoff();
    const stopping = new AbortController();
    const ended = this.#run(cause, stopping.signal);
    this.#running = { trigger: cause.trigger, stop: () => stopping.abort(), ended };
    this.#options.onState();
  }

  async #run(cause: PassCause, signal: AbortSignal): Promise<void> {
    const { pass, log, onState } = this.#options;
    const outcome = await pass(cause, signal).catch((err: unknown) => {
      log.error({ event: 'pass.error', err, trigger: cause.trigger }, 'pass failed: unexpected error');
      return 'failed' as const;
    });
    this.#running = null;
    if (outcome === 'ok') this.#failures = 0;
    else if (outcome !== 'busy') this.#failures += 1;
    if (!this.#isClosed) {
      this.#goOn(outcome, cause);
      this.#awaitDue();
    }
    onState();
  }

  #goOn(outcome: PassOutcome, cause: PassCause): void {
    const waiting = this.#waiting;
    const mayStart = outcome === 'ok' || (waiting !== null && bypasses(waiting.trigger, outcome));
    // Where another process kept it from being made, it is still the one that was asked for.
    const again = outcome === 'busy' ? cause : { ...cause, run: randomUUID() };
    const next = outcome === 'ok' ? waiting : coalesce(waiting, again);
    this.#waiting = next;
    if (next === null) return;
    if (mayStart) return this.#start(next);
    const length = delayAfter(outcome, this.#failures, this.#options.random);
    this.#backoff = { outcome, until: new Date(Date.now() + length) };
    this.#backoffTimer = setTimeout(() => this.#waiting && this.#start(this.#waiting), length);
  }

  #endBackoff(): void {
    clearTimeout(this.#backoffTimer);
    this.#backoff = null;
  }

  /** The clock is read each minute, since timers do not notice when it is set. */
  #awaitDue(): void {
    clearTimeout(this.#dueTimer);
    const at = this.#options.dueAt();
    if (at === null) return;
    const wait = Math.min(Math.max(at - Date.now(), 0), maxSleep);
    this.#dueTimer = setTimeout(() => {
      if (Date.now() < at) this.#awaitDue();
      else this.trigger('schedule');
    }, wait);
  }
}

/** Milliseconds to the next try. `failures`: passes that failed since the last one that did not. */
const delayAfter = (outcome: PassOutcome, failures: number, random?: () => number): number => {
  const grown = backoff(outcome === 'busy' ? 1 : failures, growth, random);
  return typeof outcome === 'object' ? Math.min(Math.max(grown, outcome.failedFor), maxDelay) : grown;
};

const growth = { first: 2_000, max: 5 * 60_000, jitter: 0.5 };

/** Milliseconds. */
const maxSleep = 60_000;

/** Milliseconds. If the service asks for a longer wait, or its clock is days ahead, the loop still tries after a day. */
const maxDelay = 24 * 3_600_000;

/** The most informative trigger comes last. */
const byStrength: readonly Trigger[] = ['command', 'startup', 'schedule', 'file-change', 'request'];

/** One pass for both, with the id of the first, unless only the other one's was told to somebody. */
const coalesce = (one: PassCause | null, other: PassCause): PassCause => {
  if (one === null) return other;
  const strongest = byStrength.findLast((known) => known === one.trigger || known === other.trigger);
  const isTold = one.trigger !== 'request' && other.trigger === 'request';
  return { run: isTold ? other.run : one.run, trigger: strongest ?? other.trigger };
};

const bypasses = (trigger: Trigger, outcome: PassOutcome): boolean =>
  trigger === 'request' ||
  (trigger === 'file-change' && !(typeof outcome === 'object' && outcome.isRateLimited));
