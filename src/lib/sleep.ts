import { setTimeout } from 'node:timers/promises';

/** Ends early, without an error, when the signal is aborted; tells whether it did not. */
export const sleep = async (milliseconds: number, signal?: AbortSignal): Promise<boolean> => {
  try {
    await setTimeout(milliseconds, undefined, signal ? { signal } : {});
    return true;
  } catch {
    return false;
  }
};
