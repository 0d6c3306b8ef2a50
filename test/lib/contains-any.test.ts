import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { containsAny } from '../../src/secrets.ts';

const letters = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength });

it('finds one of many parts where one of them is in the text', () => {
  const parts = fc.array(
    fc.oneof({ weight: 9, arbitrary: letters(5, 14) }, { weight: 1, arbitrary: letters(1, 4) }),
    {
      minLength: 1,
      maxLength: 300,
    },
  );
  // Whether it is one of a few or of thousands: half of these are looked for by their beginnings.
  const padding = Array.from({ length: 200 }, (_, at) => `c${at}cccc`);
  fc.assert(
    fc.property(parts, letters(0, 40), fc.boolean(), (own, text, areMany) => {
      const all = areMany ? [...own, ...padding] : own;
      expect(containsAny(all)(text)).toBe(own.some((part) => text.includes(part)));
    }),
    { numRuns: 1_000 },
  );
});
