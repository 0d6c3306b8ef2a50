import type { Logger } from 'pino';
import type { PassEvent } from './health.ts';
import { Outbox, type NotifyStore } from './outbox.ts';
import { Receiver, type ReceiverOptions, type ReceiverSettings } from './receiver.ts';

export interface NotifierOptions {
  readonly receivers: readonly ReceiverSettings[];
  readonly store: NotifyStore;
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
  readonly log: Logger;
  readonly count: (receiver: string, outcome: Parameters<ReceiverOptions['count']>[0]) => void;
}

/** Tells receivers what is new after each pass. */
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
    for (const [name, receiver] of this.#receivers) {
      if (named.get(name)?.type === receiver.type) continue;
      this.#receivers.delete(name);
      const left: Promise<void> = receiver.close(0).finally(() => this.#leaving.delete(left));
      this.#leaving.add(left);
    }
    const { log, count, store } = this.#options;
    for (const [name, settings] of named) {
      const own = log.child({ receiver: name });
      const existing = this.#receivers.get(name);
      if (existing) existing.configure(settings);
      else
        this.#receivers.set(
          name,
          new Receiver({
            settings,
            outbox: new Outbox(store, name, own),
            log: own,
            count: (outcome) => count(name, outcome),
          }),
        );
    }
  }

  /** Resolves once what is new is saved, or cannot be for now. Does not throw: the pass has ended. */
  async publish(passEvent: PassEvent): Promise<void> {
    if (this.#receivers.size === 0) return;
    try {
      const redacted = this.#options.redact(passEvent);
      await Promise.all([...this.#receivers.values()].map((receiver) => receiver.add(redacted)));
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
}
