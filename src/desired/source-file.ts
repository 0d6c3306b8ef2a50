import type { ParsedFile } from './parse-file.ts';

/** A template file or a fragment, with what it includes. */
export interface SourceFile extends FileContent {
  /** For people: the given path, and the relative path from there. */
  readonly path: string;
  readonly isFragment: boolean;
  /** By the text of the include: the fragment, or why there is none. */
  readonly includes: ReadonlyMap<string, SourceFile | Missing>;
}

export interface FileContent {
  /** Of the bytes. */
  readonly hash: string;
  readonly parsed: ParsedFile;
  /** The bytes of a file without includes, which is not parsed yet: `parsed` is empty. */
  readonly bytes?: Uint8Array;
}

/** What could not be read. */
export interface Missing {
  readonly path: string;
  readonly reason: string;
  /** A link that leads out of the directories given as templates. */
  readonly isOutside?: true;
}

/** All template files, as they were at one moment. */
export interface SourceFiles {
  readonly files: readonly SourceFile[];
  readonly missing: readonly Missing[];
}

export const isMissing = (file: SourceFile | Missing): file is Missing => 'reason' in file;
