import { limit } from '../../lib/limit.ts';
import { messageOf } from '../../errors.ts';
import type { Doubted } from '../../model/published.ts';
import type { ClientController } from './client-controller.ts';
import type { DaemonContext } from '../context.ts';

/**
 * Offers the template files of all clients that are not those that others have: at the start, when this process has
 * become the source, when the published files are those of nobody any more, and those of every client when the database has
 * failed over. Changed files are offered at once.
 */
export class PublishRounds {
  readonly #context: DaemonContext;
  readonly #controllers: () => readonly ClientController[];
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;
  #lastTrouble = '';
  #timeline = '';
  #unpassed: ReadonlyMap<string, number> = new Map();
  /** The newest publication of each client for which this process has asked again. */
  readonly #asked = new Map<string, number>();

  constructor(context: DaemonContext, controllers: () => readonly ClientController[]) {
    this.#context = context;
    this.#controllers = controllers;
  }

  /** Returns the clients whose files are published now, after the first round. */
  async start(): Promise<readonly ClientController[]> {
    if (!this.#context.sharesTemplates) return [];
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
    await this.#askForLost();
    this.#later();
  }

  async #offerAll(): Promise<readonly ClientController[]> {
    const doubted = await this.#doubted();
    this.#unpassed = doubted?.unpassed ?? new Map();
    if (!this.#context.fleet.duties.files) return [];
    const isOther = doubted !== null && doubted.timeline !== this.#timeline;
    const isDoubted = ({ client }: ClientController): boolean =>
      doubted !== null && doubted.clients.size > 0 && doubted.clients.has(client.savedAt.scope);
    const some = this.#controllers().filter((one) => isOther || one.isUnpublished || isDoubted(one));
    const inTurn = limit(atOnce);
    const results = await Promise.all(
      some.map((controller) => inTurn(async () => (this.#isClosed ? null : controller.publish()))),
    );
    // What failed stays unpublished, and is offered in the next round.
    if (doubted !== null) this.#timeline = doubted.timeline;
    return some.filter((_, at) => results[at] === 'published');
  }

  /** The pass of a publication is lost with the process that asks for it, or with the answer to its commit. */
  async #askForLost(): Promise<void> {
    if (this.#unpassed.size === 0) return;
    for (const controller of this.#controllers()) {
      const client = controller.client.savedAt.scope;
      const number = this.#unpassed.get(client);
      if (number === undefined || this.#asked.get(client) === number) continue;
      if (await controller.request()) this.#asked.set(client, number);
    }
  }

  async #doubted(): Promise<Doubted | null> {
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
      return null;
    }
  }
}

/** Clients whose files are offered at the same time. */
const atOnce = 8;
