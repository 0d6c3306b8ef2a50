import { limit } from '../lib/limit.ts';
import { messageOf } from '../errors.ts';
import type { ClientController } from './client-controller.ts';
import type { DaemonContext } from './context.ts';

/**
 * Offers the template files of all clients that are not those that others have: at the start, when this process has
 * become the source, when the published files are those of nobody any more. Changed files are offered at once.
 */
export class PublishRounds {
  readonly #context: DaemonContext;
  readonly #controllers: () => readonly ClientController[];
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;
  #lastTrouble = '';

  constructor(context: DaemonContext, controllers: () => readonly ClientController[]) {
    this.#context = context;
    this.#controllers = controllers;
  }

  /** Returns the clients whose files are published now, after the first round. */
  async start(): Promise<readonly ClientController[]> {
    const { sharesTemplates, fleet } = this.#context;
    if (!sharesTemplates || !fleet.duties.files) return [];
    const published = await this.#offerAll();
    this.#later();
    return published;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  #later(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#next();
    }, this.#context.settings.leaseDuration / 3).unref();
  }

  async #next(): Promise<void> {
    for (const controller of await this.#offerAll()) controller.trigger('file-change');
    this.#later();
  }

  async #offerAll(): Promise<readonly ClientController[]> {
    const doubted = await this.#doubted();
    const some = this.#controllers().filter(
      (controller) =>
        controller.isUnpublished || (doubted.size > 0 && doubted.has(controller.client.sharedAs())),
    );
    const inTurn = limit(atOnce);
    const results = await Promise.all(
      some.map((controller) => inTurn(async () => (this.#isClosed ? null : controller.publish()))),
    );
    return some.filter((_, at) => results[at] === 'published');
  }

  async #doubted(): Promise<ReadonlySet<string>> {
    try {
      const doubted = await this.#context.doubtedTemplates();
      this.#lastTrouble = '';
      return doubted;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== this.#lastTrouble)
        this.#context.log.warn(
          { event: 'templates.trouble', reason },
          'PostgreSQL does not tell who has which template files; will retry',
        );
      this.#lastTrouble = reason;
      return new Set();
    }
  }
}

/** Clients whose files are offered at the same time. */
const atOnce = 8;
