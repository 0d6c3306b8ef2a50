import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { shorten, shortenPair, widthOf, wrap } from '../../src/report/columns.ts';

test('shortening removes the middle, and of a pair keeps its difference visible', () => {
  expect(shorten('0123456789', 10)).toBe('0123456789');
  expect(shorten('0123456789', 9)).toBe('0123…6789');
  expect(shortenPair(`v=DKIM1; p=${'A'.repeat(99)}1`, `v=DKIM1; p=${'A'.repeat(99)}2`, 30)).toEqual([
    'v=D…AAA1',
    'v=D…AAA2',
  ]);
  fc.assert(
    fc.property(fc.nat(300), fc.nat(300), fc.integer({ min: 12, max: 80 }), (before, after, width) => {
      const [from, to] = shortenPair(
        `${'a'.repeat(before)}1${'b'.repeat(after)}`,
        `${'a'.repeat(before)}2${'b'.repeat(after)}`,
        width,
      );
      expect(from).not.toBe(to);
      expect(Math.max(widthOf(from), widthOf(to))).toBeLessThanOrEqual(width);
    }),
  );
});

test('wrapping breaks at blanks, and inside words that are too long, and loses nothing', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('a 0123456789 b', 4)).toEqual(['a', '0123', '4567', '89 b']);
  expect(wrap('run `a b c` now', 8)).toEqual(['run', '`a b c`', 'now']);
  expect(wrap('', 4)).toEqual(['']);
});
