import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { codeOf } from '../errors.ts';
import { readBeginning } from '../regular-file.ts';

/** A file as it was found. */
export interface WatchedFile {
  readonly real: string;
  readonly identity: Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;
  /** When it was last replaced or written to, in ms since the epoch. */
  readonly changedAt: number;
}

/** Tells the contents of files apart, and reads one only where its times alone could not. */
export interface FileContents {
  /** Changes with each change of the file. */
  readonly markOf: (file: WatchedFile) => string | Promise<string>;
  readonly forgetAllBut: (files: readonly WatchedFile[]) => void;
}

/**
 * A file's times tick: every few milliseconds, on some file systems every two seconds. What is written twice within
 * a tick, and is as long as before, looks the same. So a file that was changed a moment ago is read, and read again
 * the next time; one that has been at rest is known by its times, for whatever changes it then moves them.
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
  /** Whether the file had been at rest for longer than any tick when it was looked at. */
  readonly isAtRest: boolean;
}

const timesOf = ({ identity: { dev, ino, size, mtimeNs, ctimeNs } }: WatchedFile): string =>
  `${dev}:${ino} ${size} ${mtimeNs} ${ctimeNs}`;

/** A clock of another machine may be ahead, and then the file counts as changed a moment ago. */
const hasRested = ({ changedAt }: WatchedFile): boolean => Date.now() - changedAt > maxTick;

/** Milliseconds; FAT has two seconds, and a look comes a little after the time that it is held against. */
const maxTick = 3_000;

/** Of a file that cannot be read, why. */
const digestOf = async ({ real, identity }: WatchedFile): Promise<string> => {
  try {
    return createHash('sha256')
      .update(await readBeginning(real, maxBytes, identity))
      .digest('base64');
  } catch (error) {
    return codeOf(error);
  }
};

/** Bytes; nothing larger is taken for a template file. */
const maxBytes = 4 * 1024 * 1024;
