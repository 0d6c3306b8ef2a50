import type { Logger } from 'pino';
import type { Route } from '../model/route.ts';
import { messageOf, UserError } from '../errors.ts';
import { backoff } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import type { Occasion } from './health-change.ts';
import { notificationOf, type Delivery } from './delivery.ts';
import type { Outbox } from './outbox.ts';
import { post, type Posted, signedHeaders } from './post.ts';
import { slackMessageOf } from './slack.ts';
import type { PassEvent } from './health.ts';

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

/** `retried`: an attempt failed and another one follows; the others end a message. */
export type NotificationOutcome = 'delivered' | 'retried' | 'dropped';

export interface ReceiverOptions {
  readonly settings: ReceiverSettings;
  readonly outbox: Outbox;
  readonly log: Logger;
  readonly count: (outcome: NotificationOutcome) => void;
  /** The shortest time between two messages, and the first backoff after a failed attempt: milliseconds. */
  readonly gap?: number;
  readonly firstBackoff?: number;
}

/** One receiver. Sends one message at a time, and retries it until it is accepted. */
export class Receiver {
  readonly #options: Required<ReceiverOptions>;
  readonly #outbox: Outbox;
  #settings: ReceiverSettings;
  #timer: NodeJS.Timeout | undefined;
  #delivering: Promise<void> | null = null;
  /** Something was added while it was delivering. */
  #isAsked = false;
  /** Aborted: no more backoff. */
  readonly #closing = new AbortController();
  /** Aborted: no more attempts. */
  readonly #end = new AbortController();

  constructor(options: ReceiverOptions) {
    this.#options = { gap: 1_000, firstBackoff: 1_000, ...options };
    this.#settings = options.settings;
    this.#outbox = options.outbox;
    // A process before this one may have left something.
    this.#deliver();
  }

  get type(): ReceiverSettings['type'] {
    return this.#settings.type;
  }

  /** Applies from the next attempt on, also to waiting messages. */
  configure(settings: ReceiverSettings): void {
    this.#settings = settings;
  }

  /** Adds what is new in a pass. */
  async add(passEvent: PassEvent): Promise<void> {
    const { clients, on, after } = this.#settings;
    if (this.#closing.signal.aborted || (clients !== null && !clients.includes(passEvent.client))) return;
    await this.#outbox.add(passEvent, on, after);
    this.#deliver();
  }

  forget(client: string): void {
    void this.#outbox.forget(client);
  }

  /** Makes one last attempt at what is undelivered, within so many milliseconds. The next process goes on with the rest. */
  async close(within: number): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#end.abort(), within);
    await (this.#delivering ??= this.#deliverAll());
    clearTimeout(timer);
    const passes = await this.#outbox.close();
    if (passes > 0)
      this.#options.log.warn(
        { event: 'notify.dropped', passes },
        'what is new in these passes could not be saved, and is not told',
      );
  }

  /** Sends what is due, and looks again soon: by then something may be due, or another process may have added something. */
  #deliver(): void {
    clearTimeout(this.#timer);
    this.#isAsked = this.#delivering !== null;
    this.#delivering ??= this.#deliverAll().finally(() => {
      this.#delivering = null;
      if (this.#closing.signal.aborted) return;
      this.#timer = setTimeout(() => this.#deliver(), this.#isAsked ? 0 : interval).unref();
    });
  }

  async #deliverAll(): Promise<void> {
    try {
      for (let next = await this.#outbox.next(); next !== null; next = await this.#outbox.next()) {
        if (!(await this.#delivered(next))) return;
        await sleep(this.#options.gap, this.#closing.signal);
      }
    } catch (error) {
      this.#options.log.error({ event: 'notify.error', err: error }, 'notification failed: unexpected error');
    }
  }

  /** Tries until the message is accepted or dropped; false if the program ends first, or others are to send it. */
  async #delivered(delivery: Delivery): Promise<boolean> {
    const { log, count, firstBackoff } = this.#options;
    const fields = { delivery: delivery.id, changes: delivery.changes.length };
    let said = '';
    for (let attempts = 1, refusals = 0; ; attempts += 1) {
      if (!this.#outbox.mayBeSent()) return false;
      const posted = await postDelivery(delivery, this.#settings, this.#end.signal);
      if (posted.outcome === 'delivered') {
        await this.#outbox.done(delivery.id);
        log.info({ event: 'notify.delivered', ...fields }, 'notification delivered');
        count('delivered');
        return true;
      }
      const { reason, retryAfter } = posted;
      if (posted.outcome === 'refused' && (refusals += 1) === maxRefusals) {
        log.error({ event: 'notify.dropped', ...fields, reason }, 'notification refused repeatedly; dropped');
        count('dropped');
        await this.#outbox.done(delivery.id);
        return true;
      }
      if (reason !== said)
        log.warn({ event: 'notify.retried', ...fields, reason }, 'notification not accepted; will retry');
      said = reason;
      count('retried');
      if (this.#closing.signal.aborted) return false;
      const backoffMs = Math.max(backoff(attempts, { ...growth, first: firstBackoff }), retryAfter);
      await sleep(backoffMs, this.#closing.signal);
    }
  }
}

/** Makes one attempt. An unreadable address or secret is a failed attempt. */
export const postDelivery = async (
  delivery: Delivery,
  { type, url, routeTo = directly, secret, timeout, publicUrl = null }: ReceiverSettings,
  signal: AbortSignal,
): Promise<Posted> => {
  const isSlack = type === 'slack';
  const message = isSlack ? slackMessageOf(delivery, publicUrl) : notificationOf(delivery, publicUrl);
  const body = JSON.stringify(message);
  try {
    const headers = isSlack
      ? {}
      : signedHeaders(delivery.id, Date.now(), body, secret === null ? null : secret.read());
    const address = url.read();
    return await post({ url: address, route: routeTo(address), headers, body, timeout, signal });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { outcome: 'failed', reason: messageOf(error), retryAfter: 0 };
  }
};

const directly = (): Route => ({ proxy: null, ca: null });

/** Milliseconds between two looks at what is due. */
const interval = 1_000;

/** A message that is always refused would block all others. */
const maxRefusals = 3;

const growth = { max: 5 * 60_000, jitter: 0.5 };
