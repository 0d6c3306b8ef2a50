import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import { backoff } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import type { NotifyReceiver } from '../settings/receivers.ts';
import { post } from './delivery.ts';
import type { PassEvent } from './health.ts';
import {
  addNews,
  endMessage,
  forgetClient,
  keepReceivers,
  nextMessage,
  type Delivery,
  type NotifyStore,
} from './outbox.ts';

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
  readonly #receivers = new Map<string, NotifyReceiver>();
  readonly #sending = new Map<string, Promise<void>>();
  /** What is new, by client, and is not saved yet. */
  readonly #unsaved = new Map<string, readonly PassEvent[]>();
  #isFailing = false;
  /** Aborted: there is something to send. */
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
    this.#receivers.clear();
    for (const settings of receivers) this.#receivers.set(settings.name, settings);
    if (this.#sending.size + receivers.length > 0)
      void this.#tried(() => keepReceivers(this.#options.store, [...this.#receivers.keys()]));
    for (const { name } of receivers)
      if (!this.#sending.has(name))
        this.#sending.set(
          name,
          this.#send(name).finally(() => this.#sending.delete(name)),
        );
  }

  /** Resolves once what is new is saved, or cannot be for now. Does not throw: the pass has ended. */
  async publish(passEvent: PassEvent): Promise<void> {
    if (this.#receivers.size === 0 || this.#closing.signal.aborted) return;
    const { client } = passEvent;
    this.#unsaved.set(client, [...(this.#unsaved.get(client) ?? []), this.#options.redact(passEvent)]);
    // A store that does not answer keeps only those waiting who have asked it already.
    if (!this.#isFailing) await this.#save(client);
    this.#news.abort();
  }

  /** Forgets a client that is no longer configured. */
  forget(client: string): void {
    this.#unsaved.delete(client);
    if (this.#receivers.size > 0) void this.#tried(() => forgetClient(this.#options.store, client));
  }

  /** Makes one last attempt at what is undelivered, within so many milliseconds. The next process goes on with the rest. */
  async close(within: number): Promise<void> {
    const { store, log } = this.#options;
    this.#closing.abort();
    this.#news.abort();
    const timer = setTimeout(() => this.#end.abort(), within);
    await Promise.all(this.#sending.values());
    clearTimeout(timer);
    const passes = [...this.#unsaved.values()].flat().length;
    if (passes > 0)
      log.warn(
        { event: 'notify.dropped', passes },
        'what is new in these passes could not be saved, and is not told',
      );
    await store.close();
  }

  async #save(client: string): Promise<void> {
    const passes = this.#unsaved.get(client) ?? [];
    this.#unsaved.delete(client);
    const receivers = [...this.#receivers.values()].filter(
      ({ clients }) => clients?.includes(client) ?? true,
    );
    if (await this.#tried(() => addNews(this.#options.store, passes, receivers))) return;
    // Later passes see again what still differs.
    const all = [...passes, ...(this.#unsaved.get(client) ?? [])].slice(-mostUnsaved);
    this.#unsaved.set(client, all);
  }

  /** Until the receiver is not configured any more, or the program ends. */
  async #send(name: string): Promise<void> {
    const { log } = this.#options;
    while (this.#receivers.has(name)) {
      const isLast = this.#closing.signal.aborted;
      if (this.#news.signal.aborted) this.#news = new AbortController();
      const news = this.#news.signal;
      let isAllTaken = true;
      try {
        isAllTaken = await this.#sendDue(name);
      } catch (error) {
        log.error({ event: 'notify.error', err: error }, 'notification failed: unexpected error');
      }
      if (isLast || (!isAllTaken && this.#closing.signal.aborted)) return;
      await sleep(lookInterval, news);
    }
  }

  async #sendDue(name: string): Promise<boolean> {
    const { store, gap } = this.#options;
    for (;;) {
      // One attempt with all that waits, since the others would fail as well.
      for (const client of Array.from(this.#unsaved.keys())) {
        await this.#save(client);
        if (this.#isFailing) return true;
      }
      let next: Delivery | null = null;
      if (store.isSender()) await this.#tried(async () => void (next = await nextMessage(store, name)));
      if (next === null) return true;
      if (!(await this.#deliver(name, next))) return false;
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
      await sleep(
        Math.max(backoff(attempts, { ...growth, first: firstBackoff }), retryAfter),
        this.#closing.signal,
      );
    }
  }

  /** Until it is saved: a message that was taken, and is not saved as such, would be sent again. */
  async #ended({ id }: Delivery): Promise<boolean> {
    while (!(await this.#tried(() => endMessage(this.#options.store, id))))
      if (!(await sleep(lookInterval, this.#closing.signal))) return false;
    return true;
  }

  /** Whether the store has done it. */
  async #tried(task: () => Promise<void>): Promise<boolean> {
    try {
      await task();
      this.#isFailing = false;
      return true;
    } catch (error) {
      const fields = { event: 'notify.unsaved', reason: messageOf(error) };
      if (!this.#isFailing)
        this.#options.log.warn(fields, 'cannot save what receivers are to be told; will retry');
      this.#isFailing = true;
      return false;
    }
  }
}

/** Milliseconds between two looks: other processes may add to the store, and some news have to last. */
const lookInterval = 1_000;

/** Passes of one client. */
const mostUnsaved = 100;

/** A message that is always refused would block all others. */
const maxRefusals = 3;

const growth = { max: 5 * 60_000, jitter: 0.5 };
