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
