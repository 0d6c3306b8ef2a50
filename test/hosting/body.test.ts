import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { incomingBody } from '../../src/hosting/body.ts';

/** Few values, so that much of one is found again in the other. */
const bytes = fc
  .array(fc.constantFrom('a', 'b'), { maxLength: 24 })
  .map((letters) => Buffer.from(letters.join('')));

const piecesOf = (body: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [0, ...cuts.map((cut) => Math.min(cut, body.length)).sort((one, other) => one - other)];
  return places.map((place, index) => body.subarray(place, places[index + 1]));
};

test('a body is complete for any chunks and any earlier body', () => {
  const cuts = fc.array(fc.nat(24), { maxLength: 6 });
  const former = fc.option(bytes);
  fc.assert(
    fc.property(bytes, former, fc.nat(24), cuts, (own, before, shared, places) => {
      const body = before === null ? own : Buffer.concat([before.subarray(0, shared), own]);
      const incoming = incomingBody(before);
      for (const piece of piecesOf(body, places)) incoming.add(piece);
      expect(incoming.whole().toString()).toBe(body.toString());
    }),
  );
});

test('a repeated body is not stored twice', () => {
  const former = Buffer.from('the same as before');
  const incoming = incomingBody(former);
  for (const piece of piecesOf(Buffer.from(former), [4, 9])) incoming.add(piece);
  expect(incoming.whole()).toBe(former);
});
