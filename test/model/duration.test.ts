import { expect, test } from 'vitest';
import { parseDuration } from '../../src/model/duration.ts';

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
