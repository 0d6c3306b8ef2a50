/** A template file or fragment as the source has it, so that others can read it without having it. */
export interface PublishedFile {
  /** For people: the given path, and the relative path from there. */
  readonly path: string;
  /** The directory that was given, or that of the file. */
  readonly root: string;
  /** The path below it. */
  readonly relative: string;
  /** False for a fragment that is only found by an include. */
  readonly isListed: boolean;
  readonly content: PublishedContent | PublishedMissing;
}

/** By what its content is found. */
export interface PublishedContent {
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
}

/** Why the source cannot read it. */
export interface PublishedMissing {
  readonly reason: string;
  readonly isOutside: boolean;
}

/** All template files of a client as they were at one moment. */
export interface PublishedFiles {
  readonly files: readonly PublishedFile[];
}
