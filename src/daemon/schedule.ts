import type { Logger as CronLogger } from 'node-cron';
import { schedule } from 'node-cron';
import type { Logger } from 'pino';

export interface ScheduleOptions {
  /** Cron, five fields, or six with seconds first; checked where the settings are read. */
  readonly expression: string;
  /** IANA name. */
  readonly timezone: string;
  readonly onTime: () => void;
  readonly log: Logger;
}

export interface Schedule {
  /** When `onTime` is called next. */
  readonly next: () => Date | null;
  readonly close: () => void;
}

export const startSchedule = ({ expression, timezone, onTime, log }: ScheduleOptions): Schedule => {
  const task = schedule(expression, onTime, {
    timezone,
    noOverlap: true,
    // A missed run needs no word: passes tell when they ran, and the next one makes up for it.
    suppressMissedWarning: true,
    logger: quietly(log),
  });
  return {
    next: () => task.getNextRun(),
    close: () => void task.destroy(),
  };
};

/** The scheduler's own words, which it would otherwise print in colour among the lines of the log. */
const quietly = (log: Logger): CronLogger => {
  const tell = (level: 'debug' | 'warn') => (text: string | Error, error?: Error) => {
    log[level]({ err: error ?? (text instanceof Error ? text : undefined) }, `schedule: ${String(text)}`);
  };
  return { debug: tell('debug'), info: tell('debug'), warn: tell('warn'), error: tell('warn') };
};
