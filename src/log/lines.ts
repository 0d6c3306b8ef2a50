import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { Output } from '../io.ts';

/**
 * Writes each line before the call returns, so that none is lost however the process ends. But a reader that stands
 * still is not waited for: lines are kept, those beyond 8 MiB are dropped, and `tellDropped` makes the line that is
 * written once there is room again. Lines are dropped too while the disk is full, or the reader gone.
 */
export const lineWriter = (
  out: Pick<Output, 'write' | 'fd'>,
  tellDropped: (lines: number) => string,
): ((line: string) => void) => {
  if (out.fd === undefined) return (line) => void out.write(line);
  const fd = unblocked(out.fd);
  let waiting: Buffer[] = [];
  let [bytes, dropped, isCut, movedAt] = [0, 0, false, 0];
  let retry: NodeJS.Timeout | undefined;
  const keep = (line: string): void => {
    waiting.push(Buffer.from(line));
    bytes += Buffer.byteLength(line);
  };
  const writeWaiting = (): void => {
    for (let line = waiting[0]; line !== undefined; line = waiting[0]) {
      const written = writeSync(fd, line);
      [bytes, movedAt, isCut] = [bytes - written, performance.now(), written < line.length];
      if (isCut) waiting[0] = line.subarray(written);
      else waiting.shift();
    }
  };
  const write = (): void => {
    clearTimeout(retry);
    const before = bytes;
    try {
      writeWaiting();
      if (dropped === 0) return;
      keep(tellDropped(dropped));
      dropped = 0;
      writeWaiting();
    } catch (error) {
      if (!isFull(error)) {
        dropped += waiting.filter((line) => line !== lineEnd).length;
        [waiting, bytes] = isCut ? [[lineEnd], 1] : [[], 0];
        return;
      }
      retry = setTimeout(write, bytes < before ? 1 : 50);
      // A process that has nothing else to do waits for a reader only while that goes on reading.
      if (performance.now() - movedAt > 1_000) retry.unref();
    }
  };
  return (line) => {
    if (bytes > maxWaiting) dropped += 1;
    else keep(line);
    write();
  };
};

/** After a part of a line, whose rest was dropped: no line itself. */
const lineEnd = Buffer.from('\n');

const maxWaiting = 8 * 1024 * 1024;

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EAGAIN';

/**
 * A descriptor of our own that does not block: the flag on the given one would hold for all processes that share it.
 * Files do not block; a socket cannot be opened again, but Node.js has set the flag.
 */
const unblocked = (fd: number): number => {
  try {
    if (fstatSync(fd).isFile()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
};
