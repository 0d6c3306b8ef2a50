import { setImmediate } from 'node:timers/promises';

/** Milliseconds for which long work may keep everything else waiting. */
const slice = 5;

let turnedAt = 0;

/** Whether others have waited that long. Whoever works on asks at each small step, and then awaits `turn`. */
export const isYieldDue = (): boolean => performance.now() - turnedAt > slice;

/** Lets this program answer others in between. */
export const yieldToOthers = async (): Promise<void> => {
  await setImmediate();
  turnedAt = performance.now();
};
