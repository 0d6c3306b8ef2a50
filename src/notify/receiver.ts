import type { Logger } from 'pino';
import { messageOf, UserError } from '../errors.ts';
import { backoff } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import type { Occasion } from './health-change.ts';
import { notificationOf, type Delivery } from './delivery.ts';
import { Outbox, type NotifiedStore } from './outbox.ts';
import { post, type Posted } from './post.ts';
import { signedHeaders } from './signature.ts';
import { slackMessageOf } from './slack.ts';
import type { PassEvent } from './health.ts';

/** Where news go. Address and secret are read before each attempt: they may have been replaced. */
export interface ReceiverSettings {
  readonly name: string;
  readonly type: 'webhook' | 'slack';
  readonly url: { readonly read: () => string };
  /** Null: messages are not signed. */
  readonly secret: { readonly read: () => string } | null;
  readonly on: readonly Occasion[];
  /** Null: all. */
  readonly clients: readonly string[] | null;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  /** Milliseconds that something has to last before it is told. */
  readonly after?: number;
  /** Where people reach the page. */
  readonly publicUrl?: string | null;
}

/** `retried`: an attempt that did not get through, and another one follows; the others end a message. */
export type NotificationOutcome = 'delivered' | 'retried' | 'dropped';

export interface ReceiverOptions {
  readonly settings: ReceiverSettings;
  readonly notified: NotifiedStore;
  readonly log: Logger;
  readonly count: (outcome: NotificationOutcome) => void;
  /** The shortest time between two messages, and the first pause after a failed attempt: milliseconds. */
  readonly gap?: number;
  readonly firstBackoff?: number;
}

/** One receiver: one message to it is under way at a time, and is tried until it is taken. */
export class Receiver {
  readonly #options: Required<ReceiverOptions>;
  readonly #outbox: Outbox;
  #settings: ReceiverSettings;
  #timer: NodeJS.Timeout | undefined;
  #delivering: Promise<void> | null = null;
  /** Aborted: no pauses any more. */
  readonly #closing = new AbortController();
  /** Aborted: no attempts either. */
  readonly #end = new AbortController();

  constructor(options: ReceiverOptions) {
    this.#options = { gap: 1_000, firstBackoff: 1_000, ...options };
    this.#settings = options.settings;
    this.#outbox = new Outbox(options.notified);
  }

  get type(): ReceiverSettings['type'] {
    return this.#settings.type;
  }

  /** From the next attempt on; what waits goes there too. */
  configure(settings: ReceiverSettings): void {
    this.#settings = settings;
  }

  /** Takes up what is new in a pass, and returns at once. */
  enqueue(passEvent: PassEvent): void {
    const { clients, on, after = 0 } = this.#settings;
    if (this.#closing.signal.aborted || (clients !== null && !clients.includes(passEvent.client))) return;
    const dropped = this.#outbox.enqueue(passEvent, on, { after, now: Date.now() });
    for (let left = dropped; left > 0; left -= 1) this.#options.count('dropped');
    if (dropped > 0)
      this.#options.log.error(
        { event: 'notify.dropped', changes: dropped },
        'too many changes wait to be told: the oldest are dropped',
      );
    this.#deliverDue();
  }

  forget(client: string): void {
    this.#outbox.forget(client);
  }

  /** One more attempt at what is left, all of it within so many milliseconds. */
  async close(within: number): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#end.abort(), within);
    await this.#delivering;
    clearTimeout(timer);
    const { size } = this.#outbox;
    // What is not due yet is news again after a restart.
    if (size > 0 && (this.#outbox.dueAt() ?? 0) <= Date.now())
      this.#options.log.warn(
        { event: 'notify.dropped', changes: size },
        'these changes could not be told any more',
      );
  }

  /** Now what is due, and the rest when it is. */
  #deliverDue(): void {
    clearTimeout(this.#timer);
    if (this.#closing.signal.aborted) return;
    const dueAt = this.#outbox.dueAt();
    if (dueAt === null) return;
    const wait = dueAt - Date.now();
    if (wait <= 0) this.#delivering ??= this.#deliverAll();
    else this.#timer = setTimeout(() => this.#deliverDue(), Math.min(wait, maxTimer)).unref();
  }

  async #deliverAll(): Promise<void> {
    const due = (): Delivery | null => this.#outbox.next(Date.now());
    try {
      for (let next = due(); next !== null; next = due()) {
        if (!(await this.#deliver(next))) return;
        await sleep(this.#options.gap, this.#closing.signal);
      }
    } catch (error) {
      this.#options.log.error(
        { event: 'notify.error', err: error },
        'a notification met an error that nobody foresaw',
      );
    } finally {
      this.#delivering = null;
      this.#deliverDue();
    }
  }

  /** Tries until it is taken or given up; false where the program ends before. */
  async #deliver(delivery: Delivery): Promise<boolean> {
    const { log, count, firstBackoff } = this.#options;
    const fields = { delivery: delivery.id, changes: delivery.changes.length };
    let said = '';
    for (let attempts = 1, refusals = 0; ; attempts += 1) {
      const posted = await postDelivery(delivery, this.#settings, this.#end.signal);
      if (posted.outcome === 'delivered') {
        log.info({ event: 'notify.delivered', ...fields }, 'notification delivered');
        break;
      }
      const { reason, retryAfter } = posted;
      if (posted.outcome === 'refused' && (refusals += 1) === maxRefusals) {
        log.error(
          { event: 'notify.dropped', ...fields, reason },
          'a notification is refused again and again, and is dropped',
        );
        count('dropped');
        this.#outbox.done();
        return true;
      }
      if (reason !== said)
        log.warn(
          { event: 'notify.retried', ...fields, reason },
          'a notification was not taken, and is tried again',
        );
      said = reason;
      count('retried');
      if (this.#closing.signal.aborted) return false;
      const backoffMs = Math.max(backoff(attempts, { ...growth, first: firstBackoff }), retryAfter);
      await sleep(backoffMs, this.#closing.signal);
    }
    count('delivered');
    this.#outbox.done();
    return true;
  }
}

/** One attempt. Address and secret are read for it; what they lack is a reason like any other. */
export const postDelivery = async (
  delivery: Delivery,
  { type, url, secret, timeout, publicUrl = null }: ReceiverSettings,
  signal: AbortSignal,
): Promise<Posted> => {
  const isSlack = type === 'slack';
  const message = isSlack ? slackMessageOf(delivery, publicUrl) : notificationOf(delivery, publicUrl);
  const body = JSON.stringify(message);
  try {
    const headers = isSlack
      ? {}
      : signedHeaders(delivery.id, Date.now(), body, secret === null ? null : secret.read());
    return await post({ url: url.read(), headers, body, timeout, signal });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { outcome: 'failed', reason: messageOf(error), retryAfter: 0 };
  }
};

/** Milliseconds; timers take no more than 24 days. */
const maxTimer = 86_400_000;

/** A message that is refused for itself would keep all others waiting for ever. */
const maxRefusals = 3;

const growth = { max: 5 * 60_000, jitter: 0.5 };
