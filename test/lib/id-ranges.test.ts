import { array, assert, nat, property } from 'fast-check';
import { expect, it } from 'vitest';
import { idsIn, rangesOf } from '../../src/lib/id-ranges.ts';

it('says many ids that were given in a row in few numbers', () => {
  expect(rangesOf([7, 1, 2, 3, 9, 10, 2])).toEqual([[1, 3], 7, [9, 10]]);
  expect(rangesOf([])).toEqual([]);
});

it('loses none, and has no other', () => {
  assert(
    property(array(nat(60)), (ids) => {
      expect(idsIn(rangesOf(ids))).toEqual([...new Set(ids)].sort((a, b) => a - b));
    }),
  );
});
