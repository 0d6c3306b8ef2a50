import { setTimeout as wait } from 'node:timers/promises';
import { setMaxListeners } from 'node:events';

/** Ends early, without an error, if the signal is aborted. Returns whether it slept the full time. */
export const sleep = async (milliseconds: number, signal?: AbortSignal): Promise<boolean> => {
  try {
    await wait(milliseconds, undefined, signal ? { signal } : {});
    return true;
  } catch {
    return false;
  }
};

/**
 * Gives a task a signal that is aborted with another one, or after a time. Not `AbortSignal.any` with
 * `AbortSignal.timeout`: in Node.js 20 a garbage collection ends that timer.
 */
export const withDeadline = async <T>(
  milliseconds: number,
  signal: AbortSignal,
  task: (deadline: AbortSignal) => Promise<T>,
): Promise<T> => {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, milliseconds);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await task(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
};
