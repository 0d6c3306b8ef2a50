import { chmodSync, closeSync, lstatSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from '../directory.ts';
import { UserError } from '../errors.ts';

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
    throw new UserError(`${file} is ${what}: remove it, or set --state-dir to another directory`);
  }
};

/** Whether every user may replace its files, as with mode 0777. */
export const isOpenToAll = (directory: string): boolean =>
  ((statSync(directory, { throwIfNoEntry: false })?.mode ?? 0) & 0o002) !== 0;

/** Closes a file to other users, but not the target of a link. */
export const makePrivate = (file: string): void => {
  const stats = lstatSync(file);
  if (stats.isFile() && (stats.mode & 0o777) !== 0o600) chmodSync(file, 0o600);
};

/** Identifies the files at these paths, not their content: a different text once one was removed or replaced. */
export const identityOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stats ? `${stats.dev}:${stats.ino}` : 'none';
    })
    .join(' ');
