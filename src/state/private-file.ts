import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { makeDirectory } from '../lib/files.ts';

/**
 * Makes a file, and the directory for it, that only its owner can read, if it is not there. One that is there is
 * not opened: POSIX drops all locks that a process holds on a file as soon as the process closes it once.
 */
export const makePrivateFile = (file: string): void => {
  makeDirectory(dirname(file), 0o700);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) closeSync(openSync(file, 'a', 0o600));
  else if (!stats.isFile()) {
    const what = stats.isDirectory() ? 'a directory' : 'not a regular file';
    throw new UserError(`${file} is ${what}: remove it; ${anotherKnowsNothing}`);
  }
};

/** Closes a file to other users, but not the target of a link. A group may use a file whose mode only its owner may change. */
export const makePrivate = (file: string, warn: (message: string) => void): void => {
  const stats = lstatSync(file);
  const mode = stats.mode & 0o777;
  if (!stats.isFile() || mode === 0o600) return;
  try {
    chmodSync(file, 0o600);
  } catch (error) {
    warn(
      `${file} has the mode ${mode.toString(8)}, and cannot be closed to other users: ${messageOf(error)}`,
    );
  }
};

/** Identifies the files at these paths, not their content: a different text once one was removed or replaced. */
export const identityOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stats ? `${stats.dev}:${stats.ino}` : 'none';
    })
    .join(' ');

/** Notes a line in a file beside another one, for people or for a process after this one: a full disk must not prevent more. */
export const writeNote = (file: string, text: string): void => {
  try {
    const descriptor = openSync(file, writeNoLink, 0o600);
    // Not shortened: that may wait for the disk. The first line counts.
    writeSync(descriptor, `${text}\n`, 0);
    closeSync(descriptor);
  } catch {
    // Then nothing is known.
  }
};

// A link in its place could lead to a file of somebody else.
const { O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
const writeNoLink = O_CREAT | O_NOFOLLOW | O_WRONLY;

/** Empty where nothing is known. */
export const readNote = (file: string): string => {
  try {
    return readFileSync(file, 'utf8').split('\n', 1)[0] ?? '';
  } catch {
    return '';
  }
};

/**
 * That too many files are open, and what helps: null if that is not why a file in a directory could not be opened. SQLite gives no
 * reason, and a person who is told to set another directory goes on without what this one remembers.
 */
export const tooManyOpen = (directory: string, error: unknown): string | null => {
  const why = /unable to open/i.test(messageOf(error)) ? failureToOpen(directory) : error;
  return /EMFILE|ENFILE/.test(messageOf(why))
    ? `${codeOf(why)}; let this process open more (ulimit -n, or LimitNOFILE of its service)`
    : null;
};

/** Why nobody who has a state is told to set another directory. */
export const anotherKnowsNothing = 'another --state-dir knows nothing of what was sent';

/** Of as many as a database needs: itself, its two journals, and one more. */
const failureToOpen = (directory: string): unknown => {
  const opened: number[] = [];
  try {
    while (opened.length < 4) opened.push(openSync(directory, 'r'));
    return null;
  } catch (error) {
    return error;
  } finally {
    opened.forEach((descriptor) => closeSync(descriptor));
  }
};

/** If the directory cannot be read, opening the file reports why. */
export const isAbsent = (file: string): boolean => {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
};
