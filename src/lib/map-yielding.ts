import { setImmediate } from 'node:timers/promises';

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
