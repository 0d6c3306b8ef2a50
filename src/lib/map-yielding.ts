import { setImmediate } from 'node:timers/promises';

/**
 * Begins one task after the other, so that this program can answer others in between; they end side by side.
 * Rejects as soon as all have begun and one has failed.
 */
export const mapYielding = async <T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> => {
  const tasks: Promise<R>[] = [];
  for (const item of items) {
    const begun = task(item);
    // Whoever waits for all of them hears of it.
    begun.catch(() => undefined);
    tasks.push(begun);
    await setImmediate();
  }
  return Promise.all(tasks);
};
