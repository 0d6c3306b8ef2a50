import type { Clock } from '../src/lib/clock.ts';

export interface TestClock extends Clock {
  /** Lets so many milliseconds pass. */
  readonly forward: (milliseconds: number) => void;
  /** Sets the time of day, as a person or a time server does; the monotonic clock goes on. */
  readonly set: (time: string) => void;
}

/** A clock that stands still until it is moved. Whoever sleeps moves it, and has slept at once. */
export const testClock = (start = '2026-11-20T12:00:00Z'): TestClock => {
  let [time, up] = [Date.parse(start), 1_000_000];
  const forward = (milliseconds: number): void => {
    time += milliseconds;
    up += milliseconds;
  };
  return {
    now: () => time,
    uptime: () => ({ boot: 'one boot', at: up }),
    sleep: async (milliseconds, signal) => {
      const end = up + milliseconds;
      // Those who sleep at the same time do so side by side.
      await Promise.resolve();
      if (!signal.aborted && end > up) forward(end - up);
    },
    forward,
    set: (other) => {
      time = Date.parse(other);
    },
  };
};
