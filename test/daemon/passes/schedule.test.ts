import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startSchedule, type Schedule } from '../../../src/daemon/passes/schedule.ts';

let schedule: Schedule | undefined;
beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-20T20:01:30Z') });
});
afterEach(() => {
  schedule?.close();
  vi.useRealTimers();
});

const hours = 3_600_000;

/** Starts one, and gives the list to which each call adds its time, in UTC. */
const start = (expression: string, timezone = 'UTC'): string[] => {
  const times: string[] = [];
  const onTime = () => void times.push(new Date().toISOString().slice(5, 19));
  schedule = startSchedule({ expression, timezone, onTime });
  return times;
};

const next = (): string | undefined => schedule?.next().toISOString();

describe('a schedule', () => {
  it('calls at each of its times until it is closed', async () => {
    const times = start('*/5 * * * *');
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(times).toEqual(['11-20T20:05:00', '11-20T20:10:00']);
    schedule?.close();
    await vi.advanceTimersByTimeAsync(hours);
    expect(times).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['*/5 * * * *', 'UTC', '2026-11-20T20:05:00.000Z'],
    ['0 4 * * *', 'UTC', '2026-11-21T04:00:00.000Z'],
    ['0 4 * * *', 'America/New_York', '2026-11-21T09:00:00.000Z'],
    ['*/20 * * * * *', 'UTC', '2026-11-20T20:01:40.000Z'],
    ['0 0 29 2 *', 'UTC', '2028-02-29T00:00:00.000Z'],
  ])('%s in %s comes next at %s', (expression, timezone, time) => {
    start(expression, timezone);
    expect(next()).toBe(time);
  });

  it('that is spread calls once at each of its times, whatever part of a millisecond its delay has', async () => {
    for (let at = 0; at < 20; at += 1) {
      const onTime = vi.fn<() => void>();
      const one = startSchedule({ expression: '*/10 * * * * *', timezone: 'UTC', spread: `${at}`, onTime });
      await vi.advanceTimersByTimeAsync(60_000);
      one.close();
      expect(onTime).toHaveBeenCalledTimes(6);
    }
  });
});

// In Berlin, clocks are put back at 01:00 UTC: from 00:00 to 02:00 UTC they show 2 to 3 o'clock twice.
const changes = `
at every hour goes on through the hour that comes twice
  */30 * * * *  Europe/Berlin  2026-10-24T23:45
  10-25T00:00 10-25T00:30 10-25T01:00 10-25T01:30 10-25T02:00 10-25T02:30 10-25T03:00

does so west of Greenwich
  */30 * * * *  America/New_York  2026-11-01T04:45
  11-01T05:00 11-01T05:30 11-01T06:00 11-01T06:30 11-01T07:00 11-01T07:30 11-01T08:00

does so where only half an hour comes twice
  */15 * * * *  Australia/Lord_Howe  2026-04-04T14:20
  04-04T14:30 04-04T14:45 04-04T15:00 04-04T15:15 04-04T15:30 04-04T15:45 04-04T16:00
  04-04T16:15 04-04T16:30 04-04T16:45 04-04T17:00 04-04T17:15

at a given hour that comes twice runs twice
  30 2 * * *  Europe/Berlin  2026-10-24T12:00
  10-25T00:30 10-25T01:30 10-26T01:30

runs an hour later where the clock leaps over its time
  30 2 * * *  Europe/Berlin  2026-03-28T12:00
  03-29T01:30 03-30T00:30

with seconds is no other
  15 30 2 * * *  Europe/Berlin  2026-03-28T12:00
  03-29T01:30 03-30T00:30
`;

describe('in the night when a clock is changed, a schedule', () => {
  const rows = changes.trim().split('\n\n');
  it.each(rows.map((row) => row.split('\n  ')))('%s', async (_, when = '', ...lines) => {
    const [expression = '', timezone = '', from = ''] = when.split(/ {2,}/);
    vi.setSystemTime(new Date(`${from}:00Z`));
    const times = start(expression, timezone);
    const ends = lines.join(' ').split(' ');
    const last = Date.parse(`2026-${ends.at(-1)}:59Z`);
    await vi.advanceTimersByTimeAsync(last - Date.now());
    expect(times.map((time) => time.slice(0, 11))).toEqual(ends);
  });
});

describe('a clock that is set', () => {
  it.each(['2026-11-21T20:00:00Z', '2082-11-21T20:00:00Z'])(
    'forward to %s leads to one run for all that was left out',
    async (time) => {
      const times = start('*/5 * * * *');
      vi.setSystemTime(new Date(time));
      await vi.advanceTimersByTimeAsync(60_000);
      expect(times).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(5 * 60_000);
      expect(times).toHaveLength(2);
    },
  );

  it('back by a year does not stop the schedule for a year', async () => {
    const times = start('*/5 * * * *');
    vi.setSystemTime(new Date('2025-11-20T20:01:30Z'));
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(times).toEqual(['11-20T20:05:00', '11-20T20:10:00']);
  });

  it('back by a moment causes no second run', async () => {
    const times = start('0 4 * * *');
    await vi.advanceTimersByTimeAsync(Date.parse('2026-11-21T04:00:01Z') - Date.now());
    vi.setSystemTime(new Date('2026-11-21T03:58:30Z'));
    await vi.advanceTimersByTimeAsync(hours);
    expect(times).toHaveLength(1);
  });
});
