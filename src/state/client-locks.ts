import { statSync } from 'node:fs';
import path from 'node:path';
import { messageOf, processUser, UserError } from '../errors.ts';
import { type Lock, type LockOptions, acquireLock } from './lock.ts';
import { nameLockOf, tokenLockOf, type StoreLocation } from './store-location.ts';

export type Waiting = Pick<LockOptions, 'timeout' | 'signal' | 'onWait'>;

/** Takes the lock of this name. Throws `LockedError`. */
export type TakeLock = (name: string, waiting: Waiting) => Promise<Lock>;

/**
 * The two locks that a client needs to write, in an order that is the same for everybody:
 *
 * | lock of   | keeps out                                                    |
 * | --------- | ------------------------------------------------------------ |
 * | the name  | others with the same state, whatever token they have         |
 * | the token | others with the same templates: another name, or version 0.1 |
 */
export const lockClient = async (
  location: StoreLocation,
  waiting: Waiting,
  take: TakeLock,
): Promise<Lock> => {
  const name = await take(nameLockOf(location), waiting);
  try {
    const token = await take(tokenLockOf(location), waiting);
    return {
      check: () => [name, token].forEach((lock) => lock.check()),
      release: async () => {
        await token.release();
        await name.release();
      },
    };
  } catch (error) {
    await name.release();
    throw error;
  }
};

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
