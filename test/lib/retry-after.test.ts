import { expect, it } from 'vitest';
import { readRetryAfter } from '../../src/lib/backoff.ts';

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
])('of %j is %j', (header, wait) => {
  expect(readRetryAfter(header, Date.parse('2026-11-22T12:00:00Z'))).toBe(wait);
});
