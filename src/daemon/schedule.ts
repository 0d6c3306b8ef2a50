import { cronTimes } from './cron-times.ts';

export interface ScheduleOptions {
  /** Cron, five fields, or six with seconds first; checked where the settings are read. */
  readonly expression: string;
  /** IANA name. */
  readonly timezone: string;
  readonly onTime: () => void;
}

export interface Schedule {
  /** When `onTime` is called next. */
  readonly next: () => Date;
  readonly close: () => void;
}

/**
 * Calls at each time of the expression. A time that went by unnoticed, since the machine slept or was busy or its
 * clock was set, is made up for at once, and any number of them by one call. Only the times come from the scheduler:
 * it would drop what is more than a second late, and go through all that a clock set forward by years has left out.
 */
export const startSchedule = ({ expression, timezone, onTime }: ScheduleOptions): Schedule => {
  const times = cronTimes(expression, timezone);
  let next = times.next();
  let looked = Date.now();
  let timer: NodeJS.Timeout;
  const sleep = (): void => {
    timer = setTimeout(look, Math.min(Math.max(next.getTime() - Date.now(), 1), maxSleep));
  };
  const look = (): void => {
    const now = Date.now();
    const isTime = now >= next.getTime();
    const wasSetBack = now < looked - maxSleep;
    if (isTime || wasSetBack) next = times.next();
    looked = now;
    sleep();
    if (isTime) onTime();
  };
  sleep();
  return {
    next: () => next,
    close: () => {
      clearTimeout(timer);
      times.close();
    },
  };
};

/** Milliseconds; after each of them the clock is looked at, since timers do not notice when it is set. */
const maxSleep = 60_000;
