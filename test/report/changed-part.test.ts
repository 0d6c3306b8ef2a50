import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { changedPart } from '../../src/report/html-row.ts';

test.each([
  ['p=none; pct=1', 'p=reject; pct=1', { before: 'p=', from: 'none', to: 'reject', after: '; pct=1' }],
  ['same', 'same', { before: 'same', from: '', to: '', after: '' }],
  ['aa', 'aaa', { before: 'aa', from: '', to: 'a', after: '' }],
  ['', 'x', { before: '', from: '', to: 'x', after: '' }],
  ['e\u0301', 'e', { before: '', from: 'e\u0301', to: 'e', after: '' }],
])('of %j and %j', (from, to, part) => {
  expect(changedPart(from, to)).toEqual(part);
});

test('of any two texts can be joined to both again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (from, to) => {
      const part = changedPart(from, to);
      expect(part.before + part.from + part.after).toBe(from);
      expect(part.before + part.to + part.after).toBe(to);
    }),
  );
});
