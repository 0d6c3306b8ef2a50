import {
  closeSync,
  constants,
  fstatSync,
  open,
  openSync,
  read,
  readSync,
  statSync,
  type BigIntStats,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';

/*
 * Bounded reads of files that others may have created. A read of a pipe may wait for ever, a device has no
 * end, and a file of the kernel may be longer than its size says: only regular files are read, up to a limit.
 */

/** Differs if another file takes its place. */
export type FileIdentity = Pick<BigIntStats, 'dev' | 'ino'>;

/** Differs also after each write to the file, once the file is at rest. */
export type FileTimes = Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;

export const timesMark = ({ dev, ino, size, mtimeNs, ctimeNs }: FileTimes): string =>
  `${dev}:${ino} ${size} ${mtimeNs} ${ctimeNs}`;

/**
 * Whether a write after that moment, in ms since the epoch, has changed the times of the file. Times have a resolution:
 * two writes of one length within it look the same. If the clock of a file server is ahead, its files count as changed a
 * moment ago.
 */
export const isAtRest = ({ mtimeNs, ctimeNs }: FileTimes, moment = Date.now()): boolean =>
  moment - Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n) > maxTick;

/** Milliseconds. FAT has a resolution of two seconds; the rest is margin. */
const maxTick = 3_000;

/**
 * Reads at most `length` bytes from the beginning. With `identity`, throws if it is not that file any more. Only what
 * may wait for a file server is left to other threads; a `FileHandle` would take three times as long.
 */
export const readBeginning = async (
  file: string,
  length: number,
  identity?: FileIdentity,
): Promise<Buffer> => {
  if (!identity) checkKind(await stat(file));
  const descriptor = await openFile(file, flags);
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    checkKind(stats);
    if (identity && (stats.ino !== identity.ino || stats.dev !== identity.dev)) {
      throw new Error('it was replaced while it was read');
    }
    const bytes = reading(Number(stats.size), length);
    let step = bytes.next(0);
    while (!step.done) {
      const { bytesRead } = await readFile(descriptor, step.value, 0, step.value.length, null);
      step = bytes.next(bytesRead);
    }
    return step.value;
  } finally {
    closeSync(descriptor);
  }
};

const openFile = promisify(open);
const readFile = promisify(read);

/** Reads the whole file, for what nothing can start without. Throws if it is larger than `maxBytes`. */
export const readRegularFileSync = (file: string, maxBytes: number): Buffer => {
  const descriptor = openRegularFile(file);
  try {
    const parts = reading(fstatSync(descriptor).size, maxBytes + 1);
    let step = parts.next(0);
    while (!step.done) step = parts.next(readSync(descriptor, step.value));
    if (step.value.length > maxBytes) throw new Error(`it is larger than ${Math.floor(maxBytes / 1024)} KiB`);
    return step.value;
  } finally {
    closeSync(descriptor);
  }
};

/** A descriptor to read from. */
const openRegularFile = (file: string): number => {
  checkKind(statSync(file));
  const descriptor = openSync(file, flags);
  try {
    checkKind(fstatSync(descriptor));
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
};

/** If a pipe or a terminal has replaced the file, opening it neither blocks nor changes anything. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

const checkKind = (stats: { readonly isFile: () => boolean }): void => {
  if (!stats.isFile()) throw new Error('it is not a regular file');
};

/**
 * Yields buffers to read into, gets how many bytes each has, and returns all of them: first a buffer for the file's size, then
 * more if it is longer. One byte more than that: a file that is as long as it says ends with the first read.
 */
function* reading(size: number, length: number): Generator<Buffer, Buffer, number> {
  const parts: Buffer[] = [];
  for (let [left, most] = [length, size + 1]; left > 0; most = chunk) {
    const buffer = Buffer.allocUnsafe(Math.min(most, left));
    const count = yield buffer;
    parts.push(buffer.subarray(0, count));
    left -= count;
    if (count === 0 || (parts.length === 1 && count === size)) break;
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

const chunk = 64 * 1024;
