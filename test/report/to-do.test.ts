import { expect, test } from 'vitest';
import type { RecordData } from '../../src/model/record.ts';
import type { Difference } from '../../src/plan/difference.ts';
import { toDosOf } from '../../src/report/to-do.ts';

const record = (name: string | null, content = '192.0.2.1'): RecordData => ({
  type: 'A',
  name,
  content,
  priority: null,
  ttl: null,
});

const source = { file: 'web.yaml', line: 9, column: 5 };

const add = (name: string | null): Difference => ({
  action: 'add',
  desired: record(name),
  cause: 'edited',
  source,
});

const update = (name: string, more: object = {}): Difference => ({
  action: 'update',
  recordId: 5,
  current: record(name),
  desired: record(name, '192.0.2.2'),
  fields: ['content'],
  cause: 'drifted',
  source,
  ...more,
});

const surplus = (recordId: number, name: string, more: object = {}): Difference => ({
  action: 'surplus',
  recordId,
  current: record(name),
  reason: 'unlisted',
  cause: 'edited',
  ...more,
});

const blocked = (reason: 'cname-conflict' | 'vanished', more: object = {}): Difference => ({
  action: 'blocked',
  desired: record('shop'),
  reason,
  source,
  message: 'no',
  ...more,
});

const accept = (records: string): string => `\`dns-template-sync accept hotel.example${records}\` makes`;
const many = <Thing>(count: number, of: (index: number) => Thing): Thing[] =>
  Array.from({ length: count }, (_, index) => of(index));

// The report of every kind has the other sentences, and tests of the program follow their advice.
test.each<[string, Difference[], (string | null)[]]>([
  ['a change at the service', [update('*.api')], [accept(" '\\*.api A'")]],
  [
    'what blocks another record: said of that one',
    [blocked('cname-conflict', { conflicts: [8] }), surplus(8, 'shop', { cause: 'unknown' })],
    ['remove record 8 in the panel', null],
  ],
  [
    'an edit, and what was written or could not be: nothing',
    [
      update('www', { cause: 'edited' }),
      add('new'),
      update('a', { outcome: 'applied' }),
      update('b', { outcome: 'failed' }),
    ],
    [null, null, null, null],
  ],
  [
    'a renamed record, beside one that was always there',
    [surplus(1, 'api'), surplus(2, 'x', { cause: 'unknown' }), add('balancer')],
    ['a pass can rename record 1 to `balancer`', 'takes it into the file', null],
  ],
  // A rename is only offered where the record can get no other name.
  [
    'a rename of one of two',
    [surplus(1, 'api'), surplus(2, 'other'), add('balancer')],
    ['you took ', 'you took ', null],
  ],
  ['a rename to one of two', [surplus(1, 'api'), add('balancer'), add('third')], ['you took ', null, null]],
  ['a rename to no name', [surplus(1, 'api'), add(null)], ['you took ', null]],
  [
    'a rename to one of two, blocked',
    [surplus(1, 'api'), add('balancer'), blocked('vanished')],
    ['you took ', null, 'find out who removes it'],
  ],
  [
    'two with one cause: a command for both',
    many(2, (index) => update(`n${index}`)),
    many(2, () => accept(" 'n0 A' 'n1 A'")),
  ],
  ['more: a command for all', many(6, (index) => update(`n${index}`)), many(6, () => accept(''))],
  [
    'very many',
    many(700, (index) => surplus(index, `n${index}`)),
    many(700, () => 'remove records 0, 1, 2, 3, 4 and 695 more in the panel'),
  ],
])('what to do about %s', (_, differences, expected) => {
  const found = toDosOf('hotel.example', differences);
  expect(differences.map((one) => found.get(one) ?? null)).toEqual(
    expected.map((part) => part && expect.stringContaining(part)),
  );
});
