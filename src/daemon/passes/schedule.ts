import { createHash } from 'node:crypto';
import { cronTimes } from './cron-times.ts';

export interface ScheduleOptions {
  /** Cron, five fields, or six with seconds first; checked where the settings are read. */
  readonly expression: string;
  /** IANA name. */
  readonly timezone: string;
  /** A name, by which its times come later, by at most six minutes or its interval: thousands do not start in one second. */
  readonly spread?: string | null;
  readonly onTime: () => void;
}

export interface Schedule {
  /** When `onTime` is called next. */
  readonly next: () => Date;
  readonly close: () => void;
}

/**
 * Calls `onTime` at each time of the expression. Times that were missed, because the machine slept or was
 * busy or its clock was set, are made up for at once by one call.
 */
export const startSchedule = ({ expression, timezone, spread = null, onTime }: ScheduleOptions): Schedule => {
  const after = cronTimes(expression, timezone);
  const first = after(Date.now());
  const delay = spread === null ? 0 : Math.floor(shareOf(spread) * Math.min(after(first) - first, maxSpread));
  // The last of its times may still be to come, by the delay.
  const following = (now: number): Date => new Date(after(now - delay) + delay);
  let next = following(Date.now());
  let checkedAt = Date.now();
  let timer: NodeJS.Timeout;
  const sleep = (): void => {
    timer = setTimeout(check, Math.min(Math.max(next.getTime() - Date.now(), 1), maxSleep));
  };
  const check = (): void => {
    const now = Date.now();
    const isTime = now >= next.getTime();
    const wasSetBack = now < checkedAt - maxSleep;
    if (isTime || wasSetBack) next = following(now);
    checkedAt = now;
    sleep();
    if (isTime) onTime();
  };
  sleep();
  return {
    next: () => next,
    close: () => clearTimeout(timer),
  };
};

/** From 0 to 1, always the same of one name. */
const shareOf = (name: string): number => createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32;

/** Milliseconds. */
const maxSpread = 6 * 60_000;

/** Milliseconds. The clock is read that often, since timers do not notice when it is set. */
const maxSleep = 60_000;
