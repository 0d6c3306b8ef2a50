import { expect, test } from 'vitest';
import { parseDuration, parseMoment } from '../../src/model/duration.ts';

test.for<[string, number]>([
  ['500ms', 500],
  ['8s', 8_000],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['1d', 86_400_000],
  ['0s', 0],
  ['007s', 7_000],
])('%s is %d milliseconds', ([text, milliseconds]) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test.for(['', '5', 's', '-5s', '+5s', '1.5h', '1e3s', '5 s', ' 5s', '5s\n', '5S', '5M', '1w', '1h30m', '٥s'])(
  '%j is no duration',
  (text) => {
    expect(parseDuration(text)).toBeNull();
  },
);

test.for(['2', '2026-02-30', '2026-11-31T00:00:00Z', '2026-13-01', '2026-00-10', 'yesterday'])(
  '%j is no moment',
  (text) => {
    expect(parseMoment(text, 0)).toBeNull();
  },
);

test('a day that there is only in leap years is a moment in one', () => {
  expect(parseMoment('2028-02-29', 0)).toBe(Date.UTC(2028, 1, 29));
  expect(parseMoment('2026-02-29', 0)).toBeNull();
});
