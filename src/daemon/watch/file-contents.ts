import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { codeOf } from '../../errors.ts';
import { readBeginning } from '../../regular-file.ts';

/** A file as it was found. */
export interface WatchedFile {
  readonly real: string;
  readonly identity: Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;
  /** When it was last replaced or written to, in ms since the epoch. */
  readonly changedAt: number;
}

/** Tells contents apart. Reads a file only if its times are not enough. */
export interface FileContents {
  /** A text that differs after each change of the file. */
  readonly markOf: (file: WatchedFile) => string | Promise<string>;
  readonly forgetAllBut: (files: readonly WatchedFile[]) => void;
}

/**
 * File times have a resolution of some milliseconds, on some file systems of two seconds. Two writes of the
 * same length within that resolution look the same. So a file that changed a moment ago is read, and read
 * again the next time; an older one is identified by its times, since the next change will move them.
 */
export const fileContents = (): FileContents => {
  const known = new Map<string, KnownFile>();
  return {
    markOf: (file) => {
      const before = known.get(file.real);
      const times = before?.file === file ? before.times : timesOf(file);
      if (before?.times === times && before.isAtRest) return before.mark;
      const isAtRest = hasRested(file);
      const note = (mark: string): string => {
        known.set(file.real, { file, times, mark, isAtRest });
        return mark;
      };
      return isAtRest && before?.times !== times
        ? note(times)
        : digestOf(file).then((digest) => note(`${times} ${digest}`));
    },
    forgetAllBut: (files) => {
      const kept = new Set(files.map(({ real }) => real));
      for (const real of known.keys()) if (!kept.has(real)) known.delete(real);
    },
  };
};

interface KnownFile {
  readonly file: WatchedFile;
  readonly times: string;
  readonly mark: string;
  /** Whether the last change was older than the resolution of the times when the file was examined. */
  readonly isAtRest: boolean;
}

const timesOf = ({ identity: { dev, ino, size, mtimeNs, ctimeNs } }: WatchedFile): string =>
  `${dev}:${ino} ${size} ${mtimeNs} ${ctimeNs}`;

/** If the clock of a file server is ahead, the file counts as changed a moment ago. */
const hasRested = ({ changedAt }: WatchedFile): boolean => Date.now() - changedAt > maxTick;

/** Milliseconds. FAT has a resolution of two seconds; the rest is margin. */
const maxTick = 3_000;

/** For a file that cannot be read: the error code. */
const digestOf = async ({ real, identity }: WatchedFile): Promise<string> => {
  try {
    return createHash('sha256')
      .update(await readBeginning(real, maxBytes, identity))
      .digest('base64');
  } catch (error) {
    return codeOf(error);
  }
};

/** Bytes. Larger files are not template files. */
const maxBytes = 4 * 1024 * 1024;
