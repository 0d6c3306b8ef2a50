import type { Publication, PublishedFiles } from '../../src/model/published.ts';
import { Publisher, type OwnFiles } from '../../src/state/publisher.ts';
import type { SnapshotStore } from '../../src/state/snapshots.ts';

/** The files as people meant them, one after the other. A revert has the content of an earlier one. */
export interface Release {
  readonly at: number;
  readonly content: number;
}

export interface WorldOptions {
  readonly hasGit: boolean;
  /** Milliseconds. */
  readonly patience: number;
  readonly open?: (snapshots: SnapshotStore, own: OwnFiles, patience: number) => Pick<Publisher, 'offer'>;
}

interface SimulatedReplica {
  /** The release whose files it has. */
  release: Release;
  publisher: Pick<Publisher, 'offer'>;
}

/** Processes with files of their own, of which one at a time is the source, and a store. */
export class PublicationWorld {
  now = 0;
  readonly #options: WorldOptions;
  readonly #releases: Release[] = [{ at: 0, content: 0 }];
  readonly #replicas: SimulatedReplica[] = [];
  #source = 0;
  /** The releases that were published, newest last. */
  readonly published: { release: Release; digest: string; revision: string | null }[] = [];
  #doubtedAt: number | null = null;

  constructor(options: WorldOptions, replicas: number) {
    this.#options = options;
    for (let index = 0; index < replicas; index += 1) this.boot(index, 0);
  }

  get replicas(): number {
    return this.#replicas.length;
  }

  get latest(): Release {
    return this.#releases.at(-1)!;
  }

  /** New content, or that of an earlier release. */
  release(revertTo: number | null = null): void {
    const content = revertTo === null ? this.#releases.length : this.#releases[revertTo]!.content;
    this.#releases.push({ at: this.#releases.length, content });
  }

  /** A process starts, on the files of some release. */
  boot(index: number, release: number): void {
    const own: SimulatedReplica = { release: this.#releases[release]!, publisher: { offer: never } };
    const open = this.#options.open ?? ((...given) => new Publisher(...given));
    own.publisher = open(this.#storeFor(index), this.#filesOf(own), this.#options.patience);
    this.#replicas[index] = own;
  }

  /** The files of a process become those of the latest release. */
  update(index: number): void {
    this.#replicas[index]!.release = this.latest;
  }

  has(index: number): Release {
    return this.#replicas[index]!.release;
  }

  elect(index: number): void {
    this.#source = index;
  }

  look(index: number): Promise<Publication> {
    return this.#replicas[index]!.publisher.offer('client');
  }

  /** How often something older took the place of something newer. */
  get timesBack(): number {
    return this.published.filter(({ release }, at) => release.at < (this.published[at - 1]?.release.at ?? 0))
      .length;
  }

  #filesOf(replica: SimulatedReplica): OwnFiles {
    return {
      read: () => Promise.resolve(this.#asFiles(replica.release)),
      contentOf: never,
      ancestry: (commit, other) => {
        const order = Number(commit) - Number(other);
        return Promise.resolve(order > 0 ? 'descends' : order < 0 ? 'precedes' : 'same');
      },
    };
  }

  #asFiles({ at, content }: Release): PublishedFiles {
    const revision = this.#options.hasGit ? String(at) : null;
    return { files: [], digest: `content ${content}`, revision, uncommitted: [] };
  }

  #storeFor(index: number): SnapshotStore {
    const newest = (): { release: Release; digest: string; revision: string | null } | undefined =>
      this.published.at(-1);
    return {
      head: () => {
        const one = newest();
        if (one === undefined) return Promise.resolve(null);
        const { digest, revision } = one;
        const number = this.published.length;
        return Promise.resolve({
          number,
          digest,
          revision,
          uncommitted: [],
          isDoubted: this.#doubtedAt !== null,
          mayBeOld: false,
        });
      },
      read: never,
      contents: never,
      wasPublished: (_, digest) => Promise.resolve(this.published.some((one) => one.digest === digest)),
      publish: (_, after, { digest, revision }) => {
        if (after !== this.published.length) return Promise.resolve(false);
        this.published.push({ release: this.#replicas[index]!.release, digest, revision });
        this.#doubtedAt = null;
        return Promise.resolve(true);
      },
      advance: (_, __, { digest, revision }) => {
        this.published[this.published.length - 1] = {
          release: this.#replicas[index]!.release,
          digest,
          revision,
        };
        return Promise.resolve();
      },
      doubt: () => Promise.resolve(this.now - (this.#doubtedAt ??= this.now)),
      confirm: () => {
        this.#doubtedAt = null;
        return Promise.resolve();
      },
      doubted: never,
      pass: never,
      isSource: () => Promise.resolve(index === this.#source),
    };
  }
}

const never = (): Promise<never> => Promise.reject(new Error('not in this world'));
