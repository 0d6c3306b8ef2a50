import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pad, shorten, shortenPair, widthOf, wrap } from '../../src/report/columns.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 80 });

test.each([
  ['plain', 5],
  ['Zürich', 6],
  ['e\u0301', 1],
  ['漢字', 4],
  ['한글', 4],
  ['🚀', 2],
  ['', 0],
])('%j takes %i columns', (words, width) => {
  expect(widthOf(words)).toBe(width);
});

describe('shortening', () => {
  test('removes the middle', () => {
    expect(shorten('0123456789', 10)).toBe('0123456789');
    expect(shorten('0123456789', 9)).toBe('0123…6789');
    expect(shorten('0123456789', 6)).toBe('012…89');
  });

  test('stays within the width', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 60 }), (words, width) => {
        expect(widthOf(shorten(words, width))).toBeLessThanOrEqual(width);
      }),
    );
  });

  test('keeps the difference of a pair visible', () => {
    const common = 'v=DKIM1; p='.padEnd(200, 'A');
    const tail = 'Z'.repeat(200);
    expect(shortenPair(`${common}1${tail}`, `${common}2${tail}`, 30)).toEqual([
      'v=D…AAA1ZZZZZZZ…ZZZZZZZZZZZZZZ',
      'v=D…AAA2ZZZZZZZ…ZZZZZZZZZZZZZZ',
    ]);
    expect(shortenPair('short', 'other', 30)).toEqual(['short', 'other']);
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
});

test('padding fills up to the width', () => {
  expect(pad('漢', 4)).toBe('漢  ');
  expect(pad('longer', 4)).toBe('longer');
});

describe('wrapping', () => {
  test('breaks at blanks, and inside words that are too long', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a 0123456789 b', 4)).toEqual(['a', '0123', '4567', '89 b']);
    expect(wrap('', 4)).toEqual(['']);
  });

  test('loses nothing and stays within the width', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 40 }), (words, width) => {
        const lines = wrap(words, width);
        expect(lines.join('').replaceAll(' ', '')).toBe(words.replaceAll(' ', ''));
        expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
      }),
    );
  });
});
