import { statSync } from 'node:fs';
import path from 'node:path';
import { messageOf, processUser, UserError } from '../errors.ts';
import type { TakeLock } from './client-locks.ts';
import { acquireLock } from './lock.ts';

/** The locks of a state directory, one file each. */
export const lockFilesIn =
  (stateDir: string): TakeLock =>
  async (name, waiting) => {
    try {
      return await acquireLock({ ...waiting, file: path.join(stateDir, `${name}.db`) });
    } catch (error) {
      throw error instanceof UserError ? error : unusable(stateDir, error);
    }
  };

const unusable = (stateDir: string, error: unknown): UserError =>
  new UserError(
    `the state directory cannot be used, and nothing is written to the service without it: ${stateDir}: ${isFile(stateDir) ? 'it is a file' : messageOf(error)}; set --state-dir to a directory that ${processUser} can write`,
    { cause: error },
  );

const isFile = (place: string): boolean => statSync(place, { throwIfNoEntry: false })?.isFile() === true;
