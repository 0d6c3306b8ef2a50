import type { Logger } from 'pino';
import type { Route } from '../model/route.ts';
import { messageOf, UserError } from '../errors.ts';
import { backoff } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import { nothing, type PassEvent } from './health.ts';
import type { Delivery, Occasion } from './news.ts';
import { lookInterval, type Outbox } from './outbox.ts';
import { post, type Posted, signedHeaders } from './post.ts';
import { slackMessageOf } from './slack.ts';
import { notificationOf } from './webhook.ts';

/** A receiver of messages. Address and secret are read before each attempt: they may have been replaced. */
export interface ReceiverSettings {
  readonly name: string;
  readonly type: 'webhook' | 'slack';
  readonly url: { readonly read: () => string };
  /** How an address is reached; default: directly. */
  readonly routeTo?: (address: string) => Route;
  /** Null: messages are not signed. */
  readonly secret: { readonly read: () => string } | null;
  readonly on: readonly Occasion[];
  /** Null: all. */
  readonly clients: readonly string[] | null;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  /** Milliseconds that a change has to last before it is sent. */
  readonly after?: number;
  /** Where people reach the page. */
  readonly publicUrl?: string | null;
}

export interface ReceiverOptions {
  readonly settings: ReceiverSettings;
  readonly outbox: Outbox;
  readonly log: Logger;
  /** `retried`: an attempt failed and another one follows; the others end a message. */
  readonly count: (outcome: 'delivered' | 'retried' | 'dropped') => void;
  /** The shortest time between two messages, and the first backoff after a failed attempt: milliseconds. */
  readonly gap?: number;
  readonly firstBackoff?: number;
}

/** One receiver. Sends one message at a time, and retries it until it is accepted. */
export class Receiver {
  readonly #options: Required<ReceiverOptions>;
  #settings: ReceiverSettings;
  /** Aborted: there is something to send. */
  #news = new AbortController();
  /** Aborted: no more backoff. */
  readonly #closing = new AbortController();
  /** Aborted: no more attempts. */
  readonly #end = new AbortController();
  readonly #sending: Promise<void>;

  constructor(options: ReceiverOptions) {
    this.#options = { gap: 1_000, firstBackoff: 1_000, ...options };
    this.#settings = options.settings;
    // A process before this one may have left something.
    this.#sending = this.#send();
  }

  get type(): ReceiverSettings['type'] {
    return this.#settings.type;
  }

  /** Applies from the next attempt on, also to waiting messages. */
  configure(settings: ReceiverSettings): void {
    this.#settings = settings;
  }

  /** Saves what is new in a pass, to be sent; if that cannot be, it is tried again later. */
  async add(passEvent: PassEvent): Promise<void> {
    const { clients, on, after } = this.#settings;
    if (this.#closing.signal.aborted || (clients !== null && !clients.includes(passEvent.client))) return;
    await this.#options.outbox.add(passEvent, on, after);
    this.#news.abort();
  }

  forget(client: string): void {
    void this.#options.outbox.forget(client);
  }

  /** Makes one last attempt at what is undelivered, within so many milliseconds. The next process goes on with the rest. */
  async close(within: number): Promise<void> {
    const { outbox, log } = this.#options;
    this.#closing.abort();
    this.#news.abort();
    const timer = setTimeout(() => this.#end.abort(), within);
    await this.#sending;
    clearTimeout(timer);
    const passes = await outbox.close();
    if (passes > 0)
      log.warn(
        { event: 'notify.dropped', passes },
        'what is new in these passes could not be saved, and is not told',
      );
  }

  async #send(): Promise<void> {
    const { outbox, log } = this.#options;
    for (let isLast = false; !isLast;) {
      isLast = this.#closing.signal.aborted;
      let idle = lookInterval;
      try {
        this.#news = new AbortController();
        const now = Date.now();
        const isAllSent = await this.#sendDue();
        if (!isAllSent && this.#closing.signal.aborted) return;
        idle = await outbox.idle(now);
      } catch (error) {
        log.error({ event: 'notify.error', err: error }, 'notification failed: unexpected error');
      }
      if (!this.#closing.signal.aborted) await sleep(idle, this.#news.signal);
    }
  }

  async #sendDue(): Promise<boolean> {
    const { outbox, gap } = this.#options;
    for (let next = await outbox.next(); next !== null; next = await outbox.next()) {
      if (!(await this.#delivered(next))) return false;
      await sleep(gap, this.#closing.signal);
    }
    return true;
  }

  /** Tries until the message is accepted or dropped; false if the program ends first, or others are to send it. */
  async #delivered(delivery: Delivery): Promise<boolean> {
    const { outbox, log, count, firstBackoff } = this.#options;
    const fields = { delivery: delivery.id, changes: delivery.changes.length };
    let said = '';
    for (let attempts = 1, refusals = 0; ; attempts += 1) {
      if (!outbox.mayBeSent()) return false;
      const posted = await postDelivery(delivery, this.#settings, this.#end.signal);
      if (posted.outcome === 'delivered') {
        await outbox.done(delivery.id);
        log.info({ event: 'notify.delivered', ...fields }, 'notification delivered');
        count('delivered');
        return true;
      }
      const { reason, retryAfter } = posted;
      if (posted.outcome === 'refused' && (refusals += 1) === maxRefusals) {
        log.error({ event: 'notify.dropped', ...fields, reason }, 'notification refused repeatedly; dropped');
        count('dropped');
        await outbox.done(delivery.id);
        return true;
      }
      if (reason !== said)
        log.warn({ event: 'notify.retried', ...fields, reason }, 'notification not accepted; will retry');
      said = reason;
      count('retried');
      if (this.#closing.signal.aborted) return false;
      const wait = Math.max(backoff(attempts, { ...growth, first: firstBackoff }), retryAfter);
      await sleep(wait, this.#closing.signal);
    }
  }
}

/** Sends a test message once. Returns why it was not accepted; null if it was. */
export const sendTest = async (settings: ReceiverSettings, id: string): Promise<string | null> => {
  const createdAt = new Date();
  const change = {
    event: 'cleared',
    client: 'test',
    health: { ...nothing, message: 'this is a test: messages reach this receiver' },
    previous: 'in-sync',
    merged: 1,
    run: id,
    at: createdAt.toISOString(),
  } as const;
  const delivery = { id, createdAt, changes: [change] };
  const posted = await postDelivery(delivery, settings, new AbortController().signal);
  return posted.outcome === 'delivered' ? null : posted.reason;
};

/** Makes one attempt. An unreadable address or secret is a failed attempt. */
const postDelivery = async (
  delivery: Delivery,
  { type, url, routeTo, secret, timeout, publicUrl = null }: ReceiverSettings,
  signal: AbortSignal,
): Promise<Posted> => {
  const isSlack = type === 'slack';
  const message = isSlack ? slackMessageOf(delivery, publicUrl) : notificationOf(delivery, publicUrl);
  const body = JSON.stringify(message);
  try {
    const headers = isSlack ? {} : signedHeaders(delivery.id, Date.now(), body, secret?.read() ?? null);
    const address = url.read();
    const route = routeTo?.(address) ?? { proxy: null, ca: null };
    return await post({ url: address, route, headers, body, timeout, signal });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { outcome: 'failed', reason: messageOf(error), retryAfter: 0 };
  }
};

/** A message that is always refused would block all others. */
const maxRefusals = 3;

const growth = { max: 5 * 60_000, jitter: 0.5 };
