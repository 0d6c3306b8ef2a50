import type { Delivery } from '../notify/delivery.ts';
import type { Occasion } from '../notify/health-change.ts';
import type { PassEvent } from '../notify/health.ts';
import type { NotifyDelay } from '../notify/outbox-entry.ts';
import type { Outbox } from '../notify/outbox.ts';
import type { NotifiedRows } from './notified-rows.ts';

export interface SharedOutboxOptions {
  readonly rows: NotifiedRows;
  /** Whether this process is certainly the one that sends. */
  readonly isSender: () => boolean;
  /** Does a task if PostgreSQL does; false where it has to be tried again. */
  readonly tried: (task: () => Promise<void>) => Promise<boolean>;
}

/** The undelivered changes of one receiver, for all processes. What PostgreSQL does not take now, it is given again. */
export class SharedOutbox implements Outbox {
  /** None would be lost with this process. */
  readonly size = 0;
  readonly #options: SharedOutboxOptions;
  readonly #unsaved: (() => Promise<void>)[] = [];
  #saving: Promise<void> | null = null;
  #inFlight: Delivery | null = null;
  #askedAt = 0;

  constructor(options: SharedOutboxOptions) {
    this.#options = options;
  }

  enqueue(passEvent: PassEvent, on: readonly Occasion[], { after }: NotifyDelay): number {
    void this.#save(() => this.#options.rows.add(passEvent, on, after));
    return 0;
  }

  async next(): Promise<Delivery | null> {
    const { rows, isSender, tried } = this.#options;
    this.#askedAt = Date.now();
    this.#inFlight = null;
    // A message that was delivered, and is not saved as such, would be sent again.
    await this.#save();
    if (this.#unsaved.length > 0) return null;
    await tried(async () => {
      if (isSender()) this.#inFlight = await rows.take();
    });
    return this.#inFlight;
  }

  dueAt(): number {
    return this.#askedAt + interval;
  }

  mayBeSent(): boolean {
    return this.#options.isSender();
  }

  async done(): Promise<void> {
    const id = this.#inFlight?.id ?? '';
    await this.#save(() => this.#options.rows.settle(id));
  }

  forget(client: string): void {
    void this.#save(() => this.#options.rows.forget(client));
  }

  async close(): Promise<void> {
    await this.#save();
  }

  /** In order, and what was left over first. */
  #save(...tasks: readonly (() => Promise<void>)[]): Promise<void> {
    this.#unsaved.push(...tasks);
    // Later passes see again what still differs.
    this.#unsaved.splice(0, this.#unsaved.length - maxUnsaved);
    this.#saving ??= this.#saveAll().finally(() => (this.#saving = null));
    return this.#saving;
  }

  async #saveAll(): Promise<void> {
    for (let first = this.#unsaved[0]; first !== undefined; first = this.#unsaved[0]) {
      if (!(await this.#options.tried(first))) return;
      const at = this.#unsaved.indexOf(first);
      if (at >= 0) this.#unsaved.splice(at, 1);
    }
  }
}

/** Milliseconds between two looks at what others have added. */
const interval = 1_000;

const maxUnsaved = 1_000;
