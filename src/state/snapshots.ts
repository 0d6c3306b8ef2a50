import type { Doubted, PublishedFile, PublishedFiles, PublishedHead } from '../model/published.ts';

/** The files that were published last, and what is thought of them. */
export interface SnapshotHead extends PublishedHead {
  /** Whether the source asks who has these files. */
  readonly isDoubted: boolean;
  /** The database may have lost newer files: since a failover, those who have files had no time to offer them. */
  readonly mayBeOld: boolean;
}

export interface PublishedSnapshot extends PublishedHead {
  readonly files: readonly PublishedFile[];
}

/** Finds the content of a file that is to be published; throws if it is not that any more. */
export type ContentOf = (hash: string) => Promise<Buffer>;

/** The template files that processes share, by client. Throws `MemoryError`. */
export interface SnapshotStore {
  /** Null before the first publication. */
  head(client: string): Promise<SnapshotHead | null>;
  read(client: string): Promise<PublishedSnapshot | null>;
  /** Those that are still there. */
  contents(hashes: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Whether these files were published once. */
  wasPublished(client: string, digest: string): Promise<boolean>;
  /**
   * All of it or nothing, after the publication of this number, 0 for none. False where there is another one by now, or
   * this process is not the source any more.
   */
  publish(client: string, after: number, files: PublishedFiles, contentOf: ContentOf): Promise<boolean>;
  /** The same files are those of a later commit. */
  advance(client: string, number: number, files: PublishedFiles): Promise<void>;
  /** Asks who has these files. Milliseconds since nobody has answered. */
  doubt(client: string, number: number): Promise<number>;
  /** This process has them. */
  confirm(client: string, number: number): Promise<void>;
  doubted(): Promise<Doubted>;
  /** A pass has gone over these files. */
  pass(client: string, number: number): Promise<void>;
  /** Whether this process is the one that publishes. Asked for the first time, it tries to be. */
  isSource(): Promise<boolean>;
}
