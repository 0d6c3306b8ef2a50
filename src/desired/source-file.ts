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
  /** Null for a file without includes, which is parsed when its templates are needed. */
  readonly parsed: ParsedFile | null;
  readonly bytes: Uint8Array;
}

/** What could not be read. */
export interface Missing {
  readonly path: string;
  readonly reason: string;
  /** A link that leads out of the directories given as templates. */
  readonly isOutside?: true;
}

export const isMissing = (file: SourceFile | Missing): file is Missing => 'reason' in file;
