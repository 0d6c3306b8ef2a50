import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from '../directory.ts';

/**
 * Makes a file, and the directory for it, that only its owner can read, if it is not there. One that is there is
 * not opened: POSIX drops all locks that a process holds on a file as soon as the process closes it once.
 */
export const makePrivateFile = (file: string): void => {
  makeDirectory(dirname(file), 0o700);
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
};
