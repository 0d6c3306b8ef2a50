import { setImmediate } from 'node:timers/promises';

/** Milliseconds that long work may block the event loop. */
const slice = 5;

let turnedAt = 0;

/** Whether it is time to yield. Long work checks this at each small step, and then awaits `yieldToOthers`. */
export const isYieldDue = (): boolean => performance.now() - turnedAt > slice;

/** Lets other tasks run. */
export const yieldToOthers = async (): Promise<void> => {
  await setImmediate();
  turnedAt = performance.now();
};

/**
 * Starts tasks one after the other and yields in between; they run concurrently. Rejects if one fails, once
 * all have started.
 */
export const mapYielding = async <T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> => {
  const tasks: Promise<R>[] = [];
  for (const item of items) {
    const begun = task(item);
    // The caller gets the error from Promise.all.
    begun.catch(() => undefined);
    tasks.push(begun);
    await setImmediate();
  }
  return Promise.all(tasks);
};
