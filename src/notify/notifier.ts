import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import { backoff } from '../lib/backoff.ts';
import { limit } from '../lib/limit.ts';
import { sleep } from '../lib/sleep.ts';
import { groupBy } from '../model/group.ts';
import type { NotifyReceiver } from '../settings/receivers.ts';
import { post } from './delivery.ts';
import { wasCorrected, type PassEvent } from './health.ts';
import { addNews, dueIn, endMessage, nextMessage, type Delivery, type NotifyStore } from './outbox.ts';

export interface NotifierOptions {
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
  #unsaved: readonly PassEvent[] = [];
  readonly #inTurn = limit(1);
  #isFailing = false;
  /** Aborted: there may be something to send. */
  #news = new AbortController();
  /** Aborted: no more backoff. */
  readonly #closing = new AbortController();
  /** Aborted: no more attempts. */
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

  /** Resolves once what is new is saved, or cannot be for now. Does not throw: the pass has ended. */
  async publish(event: PassEvent): Promise<void> {
    if (this.#receivers.size === 0 || this.#closing.signal.aborted) return;
    // While nothing can be saved, the newest pass shows what still differs.
    const others = this.#unsaved.filter(({ client, ...pass }) => client !== event.client || isUnique(pass));
    this.#unsaved = [...others, this.#options.redact(event)];
    // A store that does not answer keeps only those waiting who have asked it already.
    await this.#inTurn(async () => this.#isFailing || this.#save());
    this.#wake();
  }

  /** Makes one last attempt at what is undelivered, within so many milliseconds. The next process goes on with the rest. */
  async close(within: number): Promise<void> {
    const { store, log } = this.#options;
    this.#closing.abort();
    this.#wake();
    const timer = setTimeout(() => this.#end.abort(), within);
    await Promise.all(this.#sending.values());
    clearTimeout(timer);
    const fields = { event: 'notify.dropped', passes: this.#unsaved.length };
    if (fields.passes > 0)
      log.warn(fields, 'what is new in these passes could not be saved, and is not told');
    await store.close();
  }

  #wake(): void {
    this.#news.abort();
    this.#news = new AbortController();
  }

  /** Whether all is saved. */
  async #save(): Promise<boolean> {
    for (const [client, passes] of groupBy(this.#unsaved, (pass) => pass.client)) {
      const receivers = [...this.#receivers.values()].filter(
        ({ clients }) => clients?.includes(client) ?? true,
      );
      const isSaved = await this.#tried(async () => {
        await addNews(this.#options.store, passes, receivers);
        return true;
      });
      if (isSaved === null) return false;
      this.#unsaved = this.#unsaved.filter((pass) => !passes.includes(pass));
    }
    return true;
  }

  /** Until the receiver is not configured any more, or the program ends. */
  async #send(name: string): Promise<void> {
    while (this.#receivers.has(name)) {
      const isLast = this.#closing.signal.aborted;
      const { signal } = this.#news;
      const wait = await this.#sendDue(name).catch((err: unknown) => {
        this.#options.log.error({ event: 'notify.error', err }, 'notification failed: unexpected error');
        return retryInterval;
      });
      if (isLast || wait === null) return;
      await sleep(Math.min(wait, longestSleep), signal);
    }
  }

  /** Returns for how long there is nothing to do, in milliseconds; null: the program ends before all is taken. */
  async #sendDue(name: string): Promise<number | null> {
    const { store, gap } = this.#options;
    for (;;) {
      // What was made known meanwhile becomes part of the next message.
      const isSaved = this.#unsaved.length === 0 || (await this.#inTurn(() => this.#save()));
      if (!isSaved) return retryInterval;
      if (!store.isSender()) return store.lookInterval;
      const due = await this.#tried(() => dueIn(store, name));
      if (due !== null && due > 0) return Math.min(due, store.lookInterval);
      const next = due === null ? null : await this.#tried(() => nextMessage(store, name));
      if (next === null) return retryInterval;
      if (!(await this.#deliver(name, next))) return this.#closing.signal.aborted ? null : retryInterval;
      await sleep(gap, this.#closing.signal);
    }
  }

  /** Tries until the message is taken or dropped; false if the program ends first, or others are to send it. */
  async #deliver(name: string, delivery: Delivery): Promise<boolean> {
    const { store, log, count, firstBackoff } = this.#options;
    const fields = { receiver: name, delivery: delivery.id, changes: delivery.changes.length };
    let said = '';
    for (let attempts = 1, refusals = 0; ; attempts += 1) {
      const settings = this.#receivers.get(name);
      if (settings === undefined || !store.isSender()) return false;
      const posted = await post(delivery, settings, this.#end.signal);
      if (posted.outcome === 'delivered') {
        const isSaved = await this.#ended(delivery);
        log.info({ event: 'notify.delivered', ...fields }, 'notification delivered');
        count(name, 'delivered');
        return isSaved;
      }
      const { reason, retryAfter } = posted;
      if (posted.outcome === 'refused' && (refusals += 1) === maxRefusals) {
        log.error({ event: 'notify.dropped', ...fields, reason }, 'notification refused repeatedly; dropped');
        count(name, 'dropped');
        return this.#ended(delivery);
      }
      if (reason !== said)
        log.warn({ event: 'notify.retried', ...fields, reason }, 'notification not accepted; will retry');
      said = reason;
      count(name, 'retried');
      if (this.#closing.signal.aborted) return false;
      const wait = backoff(attempts, { first: firstBackoff, max: longestBackoff, jitter: 0.5 });
      await sleep(Math.max(wait, retryAfter), this.#closing.signal);
    }
  }

  /** Until it is saved: a message that was taken, and is not saved as such, would be sent again. */
  async #ended({ id }: Delivery): Promise<boolean> {
    const end = async (): Promise<boolean> => {
      await endMessage(this.#options.store, id);
      return true;
    };
    while ((await this.#tried(end)) === null)
      if (!(await sleep(retryInterval, this.#closing.signal))) return false;
    return true;
  }

  /** Null if the store cannot do it now. */
  async #tried<T>(task: () => Promise<T>): Promise<T | null> {
    try {
      const done = await task();
      this.#isFailing = false;
      return done;
    } catch (error) {
      const fields = { event: 'notify.unsaved', reason: messageOf(error) };
      if (!this.#isFailing)
        this.#options.log.warn(fields, 'cannot save what receivers are to be told; will retry');
      this.#isFailing = true;
      return null;
    }
  }
}

/** Whether no later pass shows what it has found. */
const isUnique = ({ result, removed }: Pick<PassEvent, 'result' | 'removed'>): boolean =>
  removed.length > 0 ||
  (result?.templates.some(({ differences }) => differences.some(wasCorrected)) ?? false);

/** Milliseconds. */
const retryInterval = 1_000;
const longestSleep = 3_600_000;
const longestBackoff = 5 * 60_000;

/** A message that is always refused would block all others. */
const maxRefusals = 3;
