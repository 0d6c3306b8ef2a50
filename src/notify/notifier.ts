import type { Logger } from 'pino';
import { Receiver, type NotificationOutcome, type ReceiverSettings } from './receiver.ts';
import type { PassEvent } from './health.ts';
import { Outbox, type NotifyStore } from './outbox.ts';

export interface NotifierOptions {
  readonly receivers: readonly ReceiverSettings[];
  readonly store: NotifyStore;
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
  readonly log: Logger;
  readonly count: (receiver: string, outcome: NotificationOutcome) => void;
}

/** Notifies receivers after each pass. Passes do not wait for it. */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #receivers = new Map<string, Receiver>();
  readonly #leaving = new Set<Promise<void>>();

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.configure(options.receivers);
  }

  /** Replaces the settings. A receiver with the same name and type keeps its outbox. */
  configure(receivers: readonly ReceiverSettings[]): void {
    const named = new Map(receivers.map((settings) => [settings.name, settings]));
    for (const [name, receiver] of this.#receivers)
      if (named.get(name)?.type !== receiver.type) this.#remove(name, receiver);
    for (const settings of receivers) {
      const existing = this.#receivers.get(settings.name);
      if (existing) existing.configure(settings);
      else this.#receivers.set(settings.name, this.#open(settings));
    }
  }

  /** Queues the changes of a pass. Does not throw: the pass has ended. */
  publish(passEvent: PassEvent): void {
    if (this.#receivers.size === 0) return;
    try {
      const redacted = this.#options.redact(passEvent);
      for (const receiver of this.#receivers.values()) void receiver.add(redacted);
    } catch (error) {
      this.#options.log.error({ event: 'notify.error', err: error }, 'notification failed: unexpected error');
    }
  }

  /** Forgets a client that is no longer configured. */
  forget(client: string): void {
    for (const receiver of this.#receivers.values()) receiver.forget(client);
  }

  /** Makes one last attempt at what is undelivered, within so many milliseconds. */
  async close(within: number): Promise<void> {
    const closing = [...this.#receivers.values()].map((receiver) => receiver.close(within));
    await Promise.all([...closing, ...this.#leaving]);
    await this.#options.store.close();
  }

  #open(settings: ReceiverSettings): Receiver {
    const { log, count, store } = this.#options;
    const { name } = settings;
    const own = log.child({ receiver: name });
    return new Receiver({
      settings,
      outbox: new Outbox(store, name, own),
      log: own,
      count: (outcome) => count(name, outcome),
    });
  }

  #remove(name: string, receiver: Receiver): void {
    this.#receivers.delete(name);
    const left: Promise<void> = receiver.close(0).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }
}
