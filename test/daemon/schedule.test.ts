import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startSchedule, type Schedule } from '../../src/daemon/schedule.ts';
import { listeningLogger } from './listening-logger.ts';

let schedule: Schedule | undefined;
beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-20T20:01:30Z') });
});
afterEach(() => {
  schedule?.close();
  vi.useRealTimers();
});

const start = (expression: string, timezone = 'UTC', onTime: () => void = () => undefined): Schedule => {
  schedule = startSchedule({ expression, timezone, onTime, log: listeningLogger().log });
  return schedule;
};

describe('a schedule', () => {
  it('calls at each of its times until it is closed', async () => {
    const times: string[] = [];
    const { close } = start('*/5 * * * *', 'UTC', () => times.push(new Date().toISOString().slice(11, 19)));
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(times).toEqual(['20:05:00', '20:10:00']);
    close();
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(times).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['*/5 * * * *', 'UTC', '2026-11-20T20:05:00.000Z'],
    ['0 4 * * *', 'UTC', '2026-11-21T04:00:00.000Z'],
    ['0 4 * * *', 'America/New_York', '2026-11-21T09:00:00.000Z'],
    ['*/20 * * * * *', 'UTC', '2026-11-20T20:01:40.000Z'],
    ['0 0 29 2 *', 'UTC', '2028-02-29T00:00:00.000Z'],
  ])('%s in %s comes next at %s', (expression, timezone, next) => {
    expect(start(expression, timezone).next()?.toISOString()).toBe(next);
  });

  it('prints nothing when its work fails, and goes on', async () => {
    const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const { log, lines } = listeningLogger();
    let calls = 0;
    schedule = startSchedule({
      expression: '* * * * *',
      timezone: 'UTC',
      log,
      onTime: () => {
        calls += 1;
        throw new Error('no');
      },
    });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(printed).not.toHaveBeenCalled();
    expect(calls).toBe(2);
    expect(lines).toEqual([expect.objectContaining({ msg: 'schedule: Error: no' }), expect.anything()]);
    printed.mockRestore();
  });
});
