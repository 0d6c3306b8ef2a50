import { createTask } from 'node-cron';

/** The first time of a schedule after the given one; both in ms since the epoch. */
export type NextTime = (after: number) => number;

/** Shared by all that ask for the same times, and kept: thousands of clients have few schedules. */
export const cronTimes = (expression: string, timezone: string): NextTime => {
  const key = `${timezone} ${expression}`;
  const next = known.get(key) ?? nextTime(expression, timezone);
  known.set(key, next);
  return next;
};

const known = new Map<string, NextTime>();

/**
 * What node-cron reads an expression as, with clock changes as a table: it would skip one of the two hours that the clock
 * shows twice, and a whole day for a time that the clock leaps over.
 *
 * | the clock shows | at every hour          | at given hours                    |
 * |-----------------|------------------------|-----------------------------------|
 * | a time twice    | runs both times        | runs the first time               |
 * | a time never    | needs no run for it    | runs when the clock has leapt     |
 */
const nextTime = (expression: string, timezone: string): NextTime => {
  const fields = expression.trim().split(/\s+/);
  const [secondField, minuteField, hourField, dayOfMonth, month, dayOfWeek] =
    fields.length === 6 ? fields : ['0', ...fields];
  const hours = matching(24, 3_600_000, `0 ${hourField} * * *`);
  const minutes = matching(60, 60_000, `${minuteField} * * * *`);
  const seconds = matching(60, 1_000, `${secondField} * * * * *`);
  const isDay = isAt(`0 0 ${dayOfMonth} ${month} ${dayOfWeek}`);
  const isEveryHour = hours.length === 24;
  const aheadAt = aheadIn(timezone);
  // What a clock shows is written as if it were a time in UTC.
  const ofDay = hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => hour + minute + second)),
  );
  const timesOf = (date: number): number[] => {
    const [before, after] = [aheadAt(date - day), aheadAt(date + 2 * day)];
    if (before === after) return ofDay.map((time) => date + time - before);
    const found = ofDay.flatMap((time) => {
      const shown = date + time;
      // Put back, it shows the earlier one by what it is ahead before.
      const times = [shown - before, shown - after].filter((one) => aheadAt(one) === shown - one);
      if (times.length === 0) return isEveryHour ? [] : leapAfter(shown - after, before, aheadAt);
      return isEveryHour ? times : times.slice(0, 1);
    });
    return found.sort((one, other) => one - other);
  };
  const days = new Map<number, number[]>();
  return (after) => {
    if (days.size > mostDays) days.clear();
    for (let date = Math.floor((after + aheadAt(after)) / day) * day; ; date += day) {
      if (!isDay(date)) continue;
      const times = days.get(date) ?? timesOf(date);
      days.set(date, times);
      const found = times.find((time) => time > after);
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

/** Finds the minute at which a clock leaps that is ahead by so much before it does. */
const leapAfter = (time: number, before: number, aheadAt: (time: number) => number): number => {
  let found = Math.floor(time / 60_000) * 60_000;
  while (aheadAt(found) === before) found += 60_000;
  return found;
};

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
/** Whose times are kept: those of a change of the clock take a while. */
const mostDays = 8;
