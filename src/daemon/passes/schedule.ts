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
 * Calls `onTime` at each time of the expression. Times that were missed, because the machine slept or was
 * busy or its clock was set, are made up for at once by one call. Only the times come from node-cron: its own
 * scheduler drops a run that is more than a second late, and makes up for every single one when a clock is
 * set forward by years.
 */
export const startSchedule = ({ expression, timezone, onTime }: ScheduleOptions): Schedule => {
  const times = cronTimes(expression, timezone);
  let next = times.next();
  let checkedAt = Date.now();
  let timer: NodeJS.Timeout;
  const sleep = (): void => {
    timer = setTimeout(check, Math.min(Math.max(next.getTime() - Date.now(), 1), maxSleep));
  };
  const check = (): void => {
    const now = Date.now();
    const isTime = now >= next.getTime();
    const wasSetBack = now < checkedAt - maxSleep;
    if (isTime || wasSetBack) next = times.next();
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

/** Milliseconds. The clock is read that often, since timers do not notice when it is set. */
const maxSleep = 60_000;
