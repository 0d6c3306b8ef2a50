import type { Logger } from 'pino';
import { backoff } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import type { NotifyReceiver } from '../settings/receivers.ts';
import { post } from './delivery.ts';
import type { EndedPass } from './news.ts';
import { addNews, endMessage, nextMessage, type Delivery, type NotifyStore } from './outbox.ts';

interface NotifierOptions {
  readonly receivers: readonly NotifyReceiver[];
  readonly store: NotifyStore;
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
  readonly log: Logger;
  /** `retried`: an attempt failed and another one follows; the others end a message. */
  readonly count: (receiver: string, outcome: 'delivered' | 'retried' | 'dropped') => void;
  /** The shortest time between two messages, and the first backoff after a failed attempt: milliseconds. */
  readonly gap?: number;
  readonly firstBackoff?: number;
}

/** Tells receivers what is new after each pass: one message at a time to each, until it is taken. */
export class Notifier {
  readonly #options: Required<NotifierOptions>;
  #receivers: ReadonlyMap<string, NotifyReceiver> = new Map();
  readonly #sending = new Map<string, Promise<void>>();
  /** Aborted: there may be something to send. */
  #news = new AbortController();
  /** Aborted: there are other settings, with which the next attempt is made at once; or there is no further one. */
  #reconfigured = new AbortController();
  /** Aborted: no further attempt. */
  readonly #closing = new AbortController();
  /** Aborted: nor is one waited for. */
  readonly #end = new AbortController();

  constructor(options: NotifierOptions) {
    this.#options = { gap: 1_000, firstBackoff: 1_000, ...options };
    this.configure(options.receivers);
  }

  /** Replaces the settings, also for messages that wait. What a receiver was told goes by its name. */
  configure(receivers: readonly NotifyReceiver[]): void {
    this.#receivers = new Map(receivers.map((one) => [one.name, one]));
    this.#reconfigured.abort();
    this.#reconfigured = new AbortController();
    this.#wake();
    for (const { name } of receivers) {
      if (this.#sending.has(name)) continue;
      const sending = this.#send(name).finally(() => this.#sending.delete(name));
      this.#sending.set(name, sending);
    }
  }

  /** Resolves once what is new is saved, or cannot be: then the next pass finds again what still differs. Does not throw. */
  async publish(event: EndedPass): Promise<void> {
    const { store, redact, log } = this.#options;
    const receivers = [...this.#receivers.values()].filter(
      ({ clients }) => clients?.includes(event.client) ?? true,
    );
    if (receivers.length === 0 || this.#closing.signal.aborted) return;
    try {
      await addNews(store, redact(event), receivers);
    } catch (error) {
      const fields = { event: 'notify.unsaved', client: event.client, run: event.run, err: error };
      log.warn(fields, 'cannot save what receivers are to be told');
    }
    this.#wake();
  }

  /** Waits for the attempts under way, so many milliseconds. The next process goes on with the rest. */
  async close(within: number): Promise<void> {
    this.#closing.abort();
    this.#reconfigured.abort();
    this.#wake();
    const timer = setTimeout(() => this.#end.abort(), within);
    await Promise.all(this.#sending.values());
    clearTimeout(timer);
  }

  #wake(): void {
    this.#news.abort();
    this.#news = new AbortController();
  }

  /** Until the receiver is not configured any more, or the program ends. */
  async #send(name: string): Promise<void> {
    const { store, log } = this.#options;
    let trial: Trial = { id: '', attempts: 0, refusals: 0, outcome: 'retried' };
    for (;;) {
      const settings = this.#receivers.get(name);
      if (settings === undefined || this.#closing.signal.aborted) return;
      const [{ signal }, reconfigured] = [this.#news, this.#reconfigured];
      try {
        // Read anew for each attempt: by now, another process may be the one that sends it.
        const next = store.isSender() ? await nextMessage(store, name) : null;
        if (next === null) await sleep(Math.min(store.lookInterval, longestSleep), signal);
        else {
          if (trial.id !== next.id) trial = { id: next.id, attempts: 0, refusals: 0, outcome: 'retried' };
          await sleep(await this.#attempt(next, settings, trial), reconfigured.signal);
        }
      } catch (error) {
        const fields = { event: 'notify.error', receiver: name, err: error };
        log.warn(fields, 'cannot send notifications; will retry');
        await sleep(retryInterval, this.#closing.signal);
      }
    }
  }

  /** Returns the milliseconds to wait before the next attempt, or before the next message. */
  async #attempt(next: Delivery, settings: NotifyReceiver, trial: Trial): Promise<number> {
    const { store, log, count, gap, firstBackoff } = this.#options;
    const fields = { receiver: settings.name, delivery: next.id, changes: next.changes.length };
    // One that was taken, and could not be saved as such, is not sent again.
    if (trial.outcome === 'retried') {
      const posted = await post(next, settings, this.#end.signal);
      trial.attempts += 1;
      if (posted.outcome === 'refused') trial.refusals += 1;
      trial.outcome = posted.outcome === 'delivered' ? 'delivered' : 'dropped';
      if (posted.outcome !== 'delivered') {
        const said = { ...fields, reason: posted.reason };
        if (trial.refusals < maxRefusals) {
          trial.outcome = 'retried';
          log.warn({ event: 'notify.retried', ...said }, 'notification not accepted; will retry');
          count(settings.name, 'retried');
          const wait = backoff(trial.attempts, { first: firstBackoff, max: longestBackoff, jitter: 0.5 });
          return Math.max(wait, posted.retryAfter);
        }
        log.error({ event: 'notify.dropped', ...said }, 'notification refused repeatedly; dropped');
      }
    }
    await endMessage(store, next.id);
    if (trial.outcome === 'delivered')
      log.info({ event: 'notify.delivered', ...fields }, 'notification delivered');
    count(settings.name, trial.outcome);
    return gap;
  }
}

/** The attempts at one message. */
interface Trial {
  readonly id: string;
  attempts: number;
  refusals: number;
  outcome: 'delivered' | 'retried' | 'dropped';
}

/** Milliseconds. */
const retryInterval = 1_000;
const longestSleep = 3_600_000;
const longestBackoff = 5 * 60_000;

/** A message that is always refused would block all others. */
const maxRefusals = 3;
