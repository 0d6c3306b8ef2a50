import { createHash } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';

/** Tells the contents of files apart, and reads one only where its times alone could not. */
export interface FileContents {
  /** Changes with each change of the file. Throws what the file system throws. */
  readonly markOf: (file: string, stats: BigIntStats) => Promise<string>;
  readonly forgetAllBut: (files: readonly string[]) => void;
}

/**
 * A file's times tick: every few milliseconds, on some file systems every two seconds. What is written twice within
 * a tick, and is as long as before, looks the same. So a file that was changed a moment ago is read, and read again
 * the next time; one that has been at rest is known by its times, for whatever changes it then moves them.
 */
export const fileContents = (): FileContents => {
  const known = new Map<string, Known>();
  let reading: Promise<unknown> = Promise.resolve();
  /** One after the other: of very many files, all at once would take more descriptors than there are. */
  const digestInTurn = (file: string): Promise<string> => {
    const digest = reading.then(() => digestOf(file));
    reading = digest.catch(() => undefined);
    return digest;
  };
  return {
    markOf: async (file, stats) => {
      const { dev, ino, size, mtimeNs, ctimeNs } = stats;
      const times = `${dev}:${ino} ${size} ${mtimeNs} ${ctimeNs}`;
      const before = known.get(file);
      if (before?.times === times && before.isAtRest) return before.mark;
      const isAtRest = hasRested(stats);
      const isToBeRead = stats.isFile() && isTemplate(file) && (!isAtRest || before?.times === times);
      const mark = isToBeRead ? `${times} ${await digestInTurn(file)}` : times;
      known.set(file, { times, mark, isAtRest });
      return mark;
    },
    forgetAllBut: (files) => {
      const kept = new Set(files);
      for (const file of known.keys()) if (!kept.has(file)) known.delete(file);
    },
  };
};

interface Known {
  readonly times: string;
  readonly mark: string;
  /** Whether the file had been at rest for longer than any tick when it was looked at. */
  readonly isAtRest: boolean;
}

/** A clock of another machine may be ahead, and then the file counts as changed a moment ago. */
const hasRested = ({ mtimeMs, ctimeMs }: BigIntStats): boolean =>
  Date.now() - Math.max(Number(mtimeMs), Number(ctimeMs)) > longestTick;

/** Milliseconds; FAT has two seconds, and a look comes a little after the time that it is held against. */
const longestTick = 3_000;

const isTemplate = (file: string): boolean => /\.ya?ml$/.test(file);

/** Should something else have taken the file's place, opening it waits for nothing. */
const digestOf = async (file: string): Promise<string> => {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = await buffer(handle.createReadStream({ end: mostRead, autoClose: false }));
    return createHash('sha256').update(bytes).digest('base64');
  } finally {
    await handle.close();
  }
};

/** Bytes; nothing larger is taken for a template file. */
const mostRead = 4 * 1024 * 1024;
