import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { delayToNext } from '../../../src/cluster/queued-passes.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-20T12:01:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

const minute = 60_000;

it.each([
  ['*/5 * * * *', 'UTC', 4.5, 5.5],
  ['0 * * * *', 'UTC', 54, 66],
  ['*/10 * * * * *', 'UTC', 0.15, 11 / 60],
  ['0 3 * * *', 'UTC', 15 * 60 - 1, 15 * 60 + 5],
  ['0 3 * * *', 'Asia/Tokyo', 6 * 60 - 1, 6 * 60 + 5],
])('the next pass of %s in %s comes after %s to %s minutes', (schedule, timezone, least, most) => {
  const delays = [0, 0.5, 1].map((random) => delayToNext({ schedule, timezone }, () => random) / minute);
  expect(delays.map((delay) => Math.round(delay * 1_000) / 1_000)).toEqual(
    [least, (least + most) / 2, most].map((delay) => Math.round(delay * 1_000) / 1_000),
  );
});
