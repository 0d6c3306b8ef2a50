import { createTask, type ScheduledTask } from 'node-cron';
import { clockChanges, type ClockChange } from './clock-change.ts';

/** The times of a cron expression in a zone. */
export interface CronTimes {
  /** The first one from now on. */
  readonly next: () => Date;
  /** Milliseconds between its next two. */
  readonly interval: () => number;
}

/** Shared by all that ask for the same times, and kept: thousands of clients have few schedules. */
export const cronTimes = (expression: string, timezone: string): CronTimes => {
  const key = `${timezone} ${expression}`;
  const times = known.get(key) ?? timesOf(expression, timezone);
  known.set(key, times);
  return times;
};

const known = new Map<string, CronTimes>();

/**
 * The times that node-cron computes, corrected for clock changes. It would skip one of the two hours that the
 * clock shows twice, and a whole day for a time that the clock leaps over.
 *
 * | the clock shows | at every hour          | at given hours                    |
 * |-----------------|------------------------|-----------------------------------|
 * | a time twice    | runs both times        | runs the first time               |
 * | a time never    | needs no run for it    | runs when the clock has leapt     |
 */
const timesOf = (expression: string, timezone: string): CronTimes => {
  const task = createTask(expression, () => undefined, { timezone });
  /** In UTC a clock shows each time once. */
  const wall = createTask(expression, () => undefined, { timezone: 'UTC' });
  const fields = expression.trim().split(/\s+/);
  const cron: Cron = {
    task,
    wall,
    isEveryHour: isEveryHour(fields.at(-4) ?? '*'),
    step: fields.length === 6 ? 1_000 : 60_000,
  };
  /** What comes next does so for all that ask between these two. */
  let last = { asked: 0, next: 0 };
  return {
    next: () => {
      const now = Date.now();
      if (now < last.asked || now >= last.next) last = { asked: now, next: nextTime(cron, timezone, now) };
      return new Date(last.next);
    },
    interval: () => {
      const [one, two] = task.getNextRuns(2);
      return Number(two) - Number(one);
    },
  };
};

/** Whether it names all 24, as `*`, `0-23` or a step of one. */
const isEveryHour = (field: string): boolean => {
  const hours = createTask(`0 ${field} * * *`, () => undefined, { timezone: 'UTC' });
  return Array.from({ length: 24 }, (_, hour) => new Date(hour * 3_600_000)).every((at) => hours.match(at));
};

interface Cron {
  readonly task: ScheduledTask;
  readonly wall: ScheduledTask;
  readonly isEveryHour: boolean;
  /** Milliseconds; every time is a multiple of it. */
  readonly step: number;
}

const nextTime = (cron: Cron, timezone: string, now: number): number => {
  const isRepetition = (time: number): boolean =>
    !cron.isEveryHour &&
    clockChanges(timezone, time - maxChange, time).some((change) => time < change.at + putBack(change));
  const plain = firstOf(cron.task, (time) => !isRepetition(time));
  for (const change of clockChanges(timezone, now - maxChange, plain + maxChange)) {
    const found = putBack(change) > 0 ? whileRepeated(change, cron, now) : afterLeap(change, cron, now);
    if (found !== null && found < plain && !isRepetition(found)) return found;
  }
  return plain;
};

/** Zones change their clocks by an hour or less; a larger change is a move across the date line. */
const maxChange = 3 * 3_600_000;

const firstOf = (task: ScheduledTask, isMatch: (time: number) => boolean): number => {
  for (let count = 1; ; count *= 8) {
    const found = task.getNextRuns(count).find((date) => isMatch(date.getTime()));
    if (found !== undefined) return found.getTime();
  }
};

/** How long the clock repeats, in milliseconds. */
const putBack = ({ before, after }: ClockChange): number => before - after;

const whileRepeated = (change: ClockChange, { task, step }: Cron, now: number): number | null => {
  const [from, to] = [change.at - putBack(change), change.at + putBack(change)];
  for (let time = Math.max(from, nextMultiple(now, step)); time < to; time += step) {
    if (task.match(new Date(time))) return time;
  }
  return null;
};

const afterLeap = ({ at, before, after }: ClockChange, cron: Cron, now: number): number | null => {
  if (cron.isEveryHour || at <= now) return null;
  for (let time = at + before; time < at + after; time += cron.step) {
    if (cron.wall.match(new Date(time))) return at;
  }
  return null;
};

const nextMultiple = (time: number, step: number): number => (Math.floor(time / step) + 1) * step;
