import { expect, test } from 'vitest';
import type { Difference } from '../../src/plan/difference.ts';
import { toDosOf } from '../../src/report/to-do.ts';
import { add, blocked, surplus, update } from './every-kind.ts';

const change = (name: string, more: object = {}): Difference =>
  update(5, `${name} A 192.0.2.1`, `${name} A 192.0.2.2`, { cause: 'drifted', ...more });

/** Of a record that the file dropped, unless something else is said. */
const left = (recordId: number, name: string, more: object = {}): Difference =>
  surplus(recordId, `${name} A 192.0.2.1`, { cause: 'edited', ...more });

const wanted = (name: string): Difference => add(`${name} A 192.0.2.1`);

const accept = (records: string): string => `\`dns-template-sync accept hotel.example${records}\` makes`;
const many = <Thing>(count: number, of: (index: number) => Thing): Thing[] =>
  Array.from({ length: count }, (_, index) => of(index));

// The report of every kind has the other sentences, and tests of the program follow their advice.
test.each<[string, Difference[], (string | null)[]]>([
  ['a change at the service', [change('*.api')], [accept(" '\\*.api A'")]],
  [
    'what blocks another record: said of that one',
    [
      blocked('shop A 192.0.2.1', 'cname-conflict', 'no', { conflicts: [8] }),
      left(8, 'shop', { cause: 'unknown' }),
    ],
    ['remove record 8 in the panel', null],
  ],
  [
    'what is in the way, beside what else adopt would move',
    [
      blocked('shop A 192.0.2.1', 'cname-conflict', 'no', { conflicts: [8] }),
      left(8, 'shop', { cause: 'unknown' }),
      left(9, 'theirs', { cause: 'unknown' }),
    ],
    ['all that the file never listed)', null, 'takes it into'],
  ],
  [
    'what may be another record: said of that one',
    [
      blocked('shop A 192.0.2.1', 'not-converging', 'no', { recordId: 8 }),
      left(8, 'shop.example.net', { cause: 'unknown' }),
    ],
    [accept(" 'shop A'"), null],
  ],
  [
    'an edit, and what was written or could not be: nothing',
    [
      change('www', { cause: 'edited' }),
      wanted('new'),
      change('a', { outcome: 'applied' }),
      change('b', { outcome: 'failed' }),
    ],
    [null, null, null, null],
  ],
  [
    'a renamed record, beside one that was always there',
    [left(1, 'api'), left(2, 'x', { cause: 'unknown' }), wanted('balancer')],
    ['a pass can rename record 1 to `balancer`', 'takes it into the file', null],
  ],
  // A rename is only offered where the record can get no other name.
  [
    'a rename of one of two',
    [left(1, 'api'), left(2, 'other'), wanted('balancer')],
    ['you took ', 'you took ', null],
  ],
  [
    'a rename to one of two',
    [left(1, 'api'), wanted('balancer'), wanted('third')],
    ['you took ', null, null],
  ],
  ['a rename to no name', [left(1, 'api'), wanted('@')], ['you took ', null]],
  [
    'a rename to one of two, blocked',
    [left(1, 'api'), wanted('balancer'), blocked('shop A 192.0.2.1', 'vanished', 'no')],
    ['you took ', null, 'find out who removes it'],
  ],
  [
    'two with one cause: a command for both',
    many(2, (index) => change(`n${index}`)),
    many(2, () => accept(" 'n0 A' 'n1 A'")),
  ],
  ['more: a command for all', many(6, (index) => change(`n${index}`)), many(6, () => accept(''))],
  [
    'very many',
    many(700, (index) => left(index, `n${index}`)),
    many(700, () => 'remove records 0, 1, 2, 3, 4 and 695 more in the panel'),
  ],
])('what to do about %s', (_, differences, expected) => {
  const found = toDosOf('hotel.example', differences);
  expect(differences.map((one) => found.get(one) ?? null)).toEqual(
    expected.map((part) => part && expect.stringContaining(part)),
  );
});

test('nobody is told to remove a record while an earlier write may still appear', () => {
  const dropped = left(1, 'api');
  expect(toDosOf('hotel.example', [dropped]).get(dropped)).toContain('remove record 1 in the panel');
  expect(toDosOf('hotel.example', [dropped], false).get(dropped)).toBeUndefined();
});
