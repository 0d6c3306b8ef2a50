import { createHash } from 'node:crypto';
import { createTask } from 'node-cron';

interface ScheduleOptions {
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

/** The first time of a schedule after the given one; both in ms since the epoch. */
type NextTime = (after: number) => number;

/** Shared by all that ask for the same times, and kept: thousands of clients have few schedules. */
const cronTimes = (expression: string, timezone: string): NextTime => {
  const key = `${timezone} ${expression}`;
  const next = known.get(key) ?? nextTime(expression, timezone);
  known.set(key, next);
  return next;
};

const known = new Map<string, NextTime>();

/**
 * What node-cron reads an expression as, but where clocks change: it would skip one of the two hours that the clock shows
 * twice, and a whole day for a time that the clock leaps over. Here a time that is shown twice comes twice, and one that is
 * never shown comes when it would have been, had the clock not leapt.
 */
const nextTime = (expression: string, timezone: string): NextTime => {
  const fields = expression.trim().split(/\s+/);
  const [secondField, minuteField, hourField, dayOfMonth, month, dayOfWeek] =
    fields.length === 6 ? fields : ['0', ...fields];
  const hours = matching(24, 3_600_000, `0 ${hourField} * * *`);
  const minutes = matching(60, 60_000, `${minuteField} * * * *`);
  const seconds = matching(60, 1_000, `${secondField} * * * * *`);
  const isDay = isAt(`0 0 ${dayOfMonth} ${month} ${dayOfWeek}`);
  const aheadAt = aheadIn(timezone);
  // What a clock shows is written as if it were a time in UTC.
  const ofDay = hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => hour + minute + second)),
  );
  const timesOf = (date: number): number[] => {
    const [before, after] = [aheadAt(date - day), aheadAt(date + 2 * day)];
    const found = ofDay.flatMap((time) => {
      const shown = date + time;
      if (before === after) return shown - before;
      const times = [shown - before, shown - after].filter((one) => aheadAt(one) === shown - one);
      return times.length > 0 ? times : shown - before;
    });
    return found.sort((one, other) => one - other);
  };
  return (after) => {
    for (let date = Math.floor((after + aheadAt(after)) / day) * day; ; date += day) {
      const found = isDay(date) ? timesOf(date).find((time) => time > after) : undefined;
      if (found !== undefined) return found;
    }
  };
};

/** Whether an expression names the time, in ms since the epoch, as a clock shows it. */
const isAt = (expression: string): ((shown: number) => boolean) => {
  const task = createTask(expression, () => undefined, { timezone: 'UTC' });
  return (shown) => task.match(new Date(shown));
};

/** Those of so many parts of a day, each of so many milliseconds, that an expression names. */
const matching = (count: number, length: number, expression: string): number[] =>
  Array.from({ length: count }, (_, at) => at * length).filter(isAt(expression));

/** By how many milliseconds a clock of the zone is ahead of UTC. */
const aheadIn = (timeZone: string): ((time: number) => number) => {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (time) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign = '', hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  };
};

const day = 86_400_000;
