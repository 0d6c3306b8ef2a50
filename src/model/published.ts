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
  /** Of all files, their paths and contents. */
  readonly digest: string;
  /** The git commit of the checkout that all of them are in; null if there is none or several. */
  readonly revision: string | null;
  /** The paths of those that differ from that commit. */
  readonly uncommitted: readonly string[];
}

/** What was published last, without its files. */
export interface PublishedHead extends Omit<PublishedFiles, 'files'> {
  /** Grows with each publication of the client. */
  readonly number: number;
}

/** What became of the files that a process has, when it offered them to others. */
export type Publication =
  | 'published'
  /** They are those that were published last. */
  | 'same'
  /** Another process is the source, or has published others meanwhile. */
  | 'not-source'
  /** Nothing says whether they are newer: they are published once nobody has the published ones. */
  | 'waits'
  | 'older'
  | 'no-files';

/** How one commit stands to another; unknown where the checkout does not have what lies between them. */
export type Ancestry = 'same' | 'descends' | 'precedes' | 'unrelated' | 'unknown';

/** The clients whose files are asked about. All files are offered again on another timeline. */
export interface Doubted {
  readonly timeline: string;
  readonly clients: ReadonlySet<string>;
  /** The publications, by client, over which no pass has gone for a while. */
  readonly unpassed: ReadonlyMap<string, number>;
}
