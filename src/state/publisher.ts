import type { Ancestry, Publication, PublishedFiles } from '../model/published.ts';
import type { ContentOf, SnapshotHead, SnapshotStore } from './snapshots.ts';
import { successionOf, type Succession, type SuccessionFacts } from './succession.ts';

/** The template files of a client that this process has. */
export interface OwnFiles {
  /** Null where there are none: a volume may not be there. */
  readonly read: () => Promise<PublishedFiles | null>;
  readonly contentOf: ContentOf;
  /** How a commit of theirs stands to another one. */
  readonly ancestry: (commit: string, other: string) => Promise<Ancestry>;
}

/** Publishes the files of one client where this process is the source, and knows which of them it has had. */
export class Publisher {
  readonly #snapshots: SnapshotStore;
  readonly #own: OwnFiles;
  /** Milliseconds after which published files that nobody has are abandoned. */
  readonly #patience: number;
  /** The digests of publications that this process has had itself, by their numbers. */
  readonly #held = new Map<number, string>();

  constructor(snapshots: SnapshotStore, own: OwnFiles, patience: number) {
    this.#snapshots = snapshots;
    this.#own = own;
    this.#patience = patience;
  }

  /** Compares the files with the published ones, and publishes them if they are to take their place. */
  async offer(client: string): Promise<Publication> {
    const head = await this.#snapshots.head(client);
    const own = await this.#own.read();
    if (own === null) return 'no-files';
    if (head?.digest === own.digest) await this.#hold(client, head);
    // Whoever saw the published files replaced is the one that knows, source or not.
    if (!this.#hasLeft(head, own) && !(await this.#snapshots.isSource()))
      return head?.digest === own.digest ? 'same' : 'not-source';
    if (head === null) return this.#publish(client, 0, own);
    const succession = await this.#successionOf(client, head, own);
    if (succession === 'succeeds') return this.#publish(client, head.number, own);
    if (succession === 'advances') await this.#snapshots.advance(client, head.number, own);
    return succession === 'advances' ? 'same' : succession;
  }

  async #hold(client: string, { number, digest, isDoubted }: SnapshotHead): Promise<void> {
    this.#held.delete(number);
    this.#held.set(number, digest);
    for (const old of this.#held.keys()) if (this.#held.size > maxHeld) this.#held.delete(old);
    if (isDoubted) await this.#snapshots.confirm(client, number);
  }

  #hasLeft(head: SnapshotHead | null, own: PublishedFiles): boolean {
    return head !== null && head.digest !== own.digest && this.#held.get(head.number) === head.digest;
  }

  async #successionOf(client: string, head: SnapshotHead, own: PublishedFiles): Promise<Succession> {
    const isSame = head.digest === own.digest;
    const isOrdered = own.revision !== null && head.revision !== null;
    const facts: SuccessionFacts = {
      isSame,
      ancestry: isOrdered ? await this.#own.ancestry(own.revision, head.revision) : 'unknown',
      hasLeft: this.#hasLeft(head, own),
      wasPublished: !isSame && (await this.#snapshots.wasPublished(client, own.digest)),
      isAbandoned: false,
    };
    const succession = successionOf(facts);
    if (succession !== 'waits') return succession;
    const isAbandoned = (await this.#snapshots.doubt(client, head.number)) >= this.#patience;
    return successionOf({ ...facts, isAbandoned });
  }

  async #publish(client: string, after: number, own: PublishedFiles): Promise<Publication> {
    const isPublished = await this.#snapshots.publish(client, after, own, this.#own.contentOf);
    if (!isPublished) return 'not-source';
    this.#held.set(after + 1, own.digest);
    return 'published';
  }
}

/** Any number: a failover may bring an earlier one back. */
const maxHeld = 100;
