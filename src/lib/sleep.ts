import { setTimeout } from 'node:timers/promises';

/** Ends early, without an error, if the signal is aborted. Returns whether it slept the full time. */
export const sleep = async (milliseconds: number, signal?: AbortSignal): Promise<boolean> => {
  try {
    await setTimeout(milliseconds, undefined, signal ? { signal } : {});
    return true;
  } catch {
    return false;
  }
};
