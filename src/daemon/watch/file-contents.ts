import { createHash } from 'node:crypto';
import { codeOf } from '../../errors.ts';
import { isAtRest, readBeginning, timesMark, type FileTimes } from '../../regular-file.ts';

/** A file as it was found. */
export interface WatchedFile {
  readonly real: string;
  readonly identity: FileTimes;
}

/** Tells contents apart. Reads a file only if its times are not enough. */
export interface FileContents {
  /** A text that differs after each change of the file. */
  readonly markOf: (file: WatchedFile) => string | Promise<string>;
  readonly forgetAllBut: (files: readonly WatchedFile[]) => void;
}

/** A file that changed a moment ago is read, and read again the next time; an older one is known by its times. */
export const fileContents = (): FileContents => {
  const known = new Map<string, KnownFile>();
  return {
    markOf: (file) => {
      const before = known.get(file.real);
      const times = before?.file === file ? before.times : timesMark(file.identity);
      if (before?.times === times && before.isResting) return before.mark;
      const isResting = isAtRest(file.identity);
      const note = (mark: string): string => {
        known.set(file.real, { file, times, mark, isResting });
        return mark;
      };
      return isResting && before?.times !== times
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
  readonly isResting: boolean;
}

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
