import type { Logger } from 'pino';
import { messageOf } from '../../errors.ts';
import type { Publication } from '../../model/published.ts';
import type { DaemonClient } from '../context.ts';

/** Null where files are not shared. */
export type OfferResult = Publication | 'failed' | null;

/** What becomes of the template files of one client that this process offers to others. */
export class Publications {
  readonly #log: Logger;
  #last: OfferResult = null;
  #error = '';
  #offering: Promise<unknown> = Promise.resolve();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Whether the files are not those that others have. */
  get isOpen(): boolean {
    return this.#last !== 'published' && this.#last !== 'same';
  }

  /** One after the other. What goes wrong is said, and shall be tried again. */
  offer(client: Pick<DaemonClient, 'publish'>): Promise<OfferResult> {
    const offered = this.#offering.then(() => this.#offer(client));
    this.#offering = offered;
    return offered;
  }

  async #offer(client: Pick<DaemonClient, 'publish'>): Promise<OfferResult> {
    try {
      const publication = await client.publish();
      if (publication !== this.#last) this.#say(publication);
      this.#last = publication;
      this.#error = '';
      return publication;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== this.#error)
        this.#log.warn(
          { event: 'templates.unpublished', reason },
          'template files not published; will retry',
        );
      this.#last = 'failed';
      this.#error = reason;
      return 'failed';
    }
  }

  #say(publication: Publication | null): void {
    const event = `templates.${publication}`;
    if (publication === 'published') this.#log.info({ event }, 'template files published');
    if (publication === 'older')
      this.#log.warn(
        { event },
        'the template files here are older than the published ones, which stay in use; to go back, revert in a new commit, or change any file',
      );
    if (publication === 'waits')
      this.#log.info(
        { event },
        'the template files here are others than the published ones; they are published once no process has those any more',
      );
  }
}
