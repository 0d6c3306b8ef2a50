import type { Logger } from 'pino';
import { backoff } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import type { NotifyReceiver } from '../settings/receivers.ts';
import { post } from './delivery.ts';
import type { PassEvent } from './news.ts';
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
    this.#wake();
    for (const { name } of receivers) {
      if (this.#sending.has(name)) continue;
      const sending = this.#send(name).finally(() => this.#sending.delete(name));
      this.#sending.set(name, sending);
    }
  }

  /** Resolves once what is new is saved, or cannot be: then the next pass finds again what still differs. Does not throw. */
  async publish(event: PassEvent): Promise<void> {
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
    const { store, log, gap } = this.#options;
    const trial: Trial = { id: '', attempts: 0, refusals: 0, said: '', isOver: false };
    for (;;) {
      const settings = this.#receivers.get(name);
      if (settings === undefined || this.#closing.signal.aborted) return;
      const { signal } = this.#news;
      try {
        const next = store.isSender() ? await nextMessage(store, name) : null;
        if (next === null) await sleep(Math.min(store.lookInterval, longestSleep), signal);
        else await sleep((await this.#attempt(next, settings, trial)) ?? gap, this.#closing.signal);
      } catch (error) {
        log.warn(
          { event: 'notify.error', receiver: name, err: error },
          'cannot send notifications; will retry',
        );
        await sleep(retryInterval, this.#closing.signal);
      }
    }
  }

  /** Returns the milliseconds to wait before the next attempt; null if the message was taken or dropped. */
  async #attempt(next: Delivery, settings: NotifyReceiver, trial: Trial): Promise<number | null> {
    const { store, log, count, firstBackoff } = this.#options;
    if (trial.id !== next.id)
      Object.assign(trial, { id: next.id, attempts: 0, refusals: 0, said: '', isOver: false });
    trial.attempts += 1;
    const receiver = settings.name;
    const fields = { receiver, delivery: next.id, changes: next.changes.length };
    // One that was taken, and could not be saved as such, is not sent again.
    const posted = trial.isOver ? null : await post(next, settings, this.#end.signal);
    if (posted !== null && posted.outcome !== 'delivered') {
      const { reason, retryAfter } = posted;
      if (posted.outcome === 'refused') trial.refusals += 1;
      if (trial.refusals < maxRefusals) {
        if (reason !== trial.said)
          log.warn({ event: 'notify.retried', ...fields, reason }, 'notification not accepted; will retry');
        trial.said = reason;
        count(receiver, 'retried');
        const wait = backoff(trial.attempts, { first: firstBackoff, max: longestBackoff, jitter: 0.5 });
        return Math.max(wait, retryAfter);
      }
      log.error({ event: 'notify.dropped', ...fields, reason }, 'notification refused repeatedly; dropped');
    }
    trial.isOver = true;
    await endMessage(store, next.id);
    const isDropped = trial.refusals === maxRefusals;
    if (!isDropped) log.info({ event: 'notify.delivered', ...fields }, 'notification delivered');
    count(receiver, isDropped ? 'dropped' : 'delivered');
    return null;
  }
}

/** The attempts at one message. */
interface Trial {
  id: string;
  attempts: number;
  refusals: number;
  /** Why the last one failed: what stays the same is said once. */
  said: string;
  /** It was taken, or refused too often. */
  isOver: boolean;
}

/** Milliseconds. */
const retryInterval = 1_000;
const longestSleep = 3_600_000;
const longestBackoff = 5 * 60_000;

/** A message that is always refused would block all others. */
const maxRefusals = 3;
