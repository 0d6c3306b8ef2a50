import { expect, it } from 'vitest';
import { backoff, backoffDelay, readRetryAfter } from '../../src/lib/backoff.ts';

it('backoffs double, up to the maximum', () => {
  const pauses = [1, 2, 3, 4, 5, 5_000].map((failures) => backoffDelay(failures, { first: 2, max: 15 }));
  expect(pauses).toEqual([2, 4, 8, 15, 15, 15]);
});

it.each([
  { jitter: 0, min: 100 },
  { jitter: 0.5, min: 50 },
  { jitter: 1, min: 0 },
])('jitter takes at most a share of $jitter', ({ jitter, min }) => {
  const pause = (random: number): number => backoff(1, { first: 100, max: 100, jitter }, () => random);
  expect([pause(0), pause(1)]).toEqual([min, 100]);
});

it.each([
  ['120', 120_000],
  [' 0 ', 0],
  ['Sun, 22 Nov 2026 12:00:30 GMT', 30_000],
  ['Sun, 22 Nov 2026 11:00:00 GMT', 0],
  [['7', '9'], 7_000],
  ['1.5', null],
  ['-1', null],
  ['1234567890', null],
  ['2026', 2_026_000],
  ['soon', null],
  ['', null],
  [undefined, null],
])('Retry-After: %j is %j', (header, wait) => {
  expect(readRetryAfter(header, Date.parse('2026-11-22T12:00:00Z'))).toBe(wait);
});
