import { expect, it } from 'vitest';
import { Warnings } from '../../src/app/warnings.ts';

it.each([
  [['a', 'b', 'c'], 3, ['all 3 clients: no state']],
  [['a', 'b'], 3, ['a, b: no state']],
  [['a', 'b', 'c', 'd', 'e', 'f', 'g'], 60, ['a, b, c, d, e and 2 more clients: no state']],
])('a message of the clients %s of %d is one line', (clients, all, lines) => {
  const warnings = new Warnings();
  for (const client of clients) warnings.add(client, 'no state');
  expect(warnings.lines(all)).toEqual(lines);
});
