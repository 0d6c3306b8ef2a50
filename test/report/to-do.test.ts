import { describe, expect, test } from 'vitest';
import type { RecordData } from '../../src/model/record.ts';
import type { Difference } from '../../src/plan/difference.ts';
import { toDosOf } from '../../src/report/to-do.ts';

const record = (name: string | null, more: Partial<RecordData> = {}): RecordData => ({
  type: 'A',
  name,
  content: '192.0.2.1',
  priority: null,
  ttl: null,
  ...more,
});

const source = { file: 'web.yaml', line: 9, column: 5 };

const add = (name: string | null, more: object = {}): Difference => ({
  action: 'add',
  desired: record(name),
  cause: 'edited',
  source,
  ...more,
});

const update = (name: string, more: object = {}): Difference => ({
  action: 'update',
  recordId: 5,
  current: record(name),
  desired: record(name, { content: '192.0.2.2' }),
  fields: ['content'],
  cause: 'drifted',
  source,
  ...more,
});

const surplus = (recordId: number, name: string | null, more: object = {}): Difference => ({
  action: 'surplus',
  recordId,
  current: record(name),
  reason: 'unlisted',
  cause: 'edited',
  ...more,
});

const blocked = (name: string | null, reason: string, more: object = {}): Difference =>
  ({ action: 'blocked', desired: record(name), reason, source, message: 'no', ...more }) as Difference;

/** What there is to do about each. */
const toDos = (differences: readonly Difference[], template = 'hotel.example'): (string | null)[] => {
  const found = toDosOf(template, differences);
  return differences.map((one) => found.get(one) ?? null);
};

const accept = (records: string): string => `\`dns-template-sync accept hotel.example ${records}\``;

// The report of every kind has the other sentences, and tests of the program follow their advice.
describe('what to do about', () => {
  test('a change at the service that is held back, which no pass writes', () => {
    const held = update('*.api', { outcome: 'skipped', skippedBy: 'held' });
    expect(toDos([held])).toEqual([`${accept("'\\*.api A'")} makes the file say what the service has.`]);
  });

  test('what blocks another record is said of that one', () => {
    const differences = [
      blocked('shop', 'cname-conflict', { conflicts: [8] }),
      surplus(8, 'shop', { cause: 'unknown' }),
    ];
    expect(toDos(differences)).toEqual([expect.stringContaining('remove record 8 in the panel'), null]);
  });

  test('an edit, and what was written or could not be, is nothing', () => {
    const ended = [update('a', { outcome: 'applied' }), update('b', { outcome: 'failed' })];
    expect(toDos([update('www', { cause: 'edited' }), add('new'), ...ended])).toEqual(Array(4).fill(null));
  });

  test('a renamed record, beside one that was always there', () => {
    const differences = [surplus(1, 'api'), surplus(2, 'x', { cause: 'unknown' }), add('balancer')];
    expect(toDos(differences)[0]).toContain('a pass can rename record 1 to `balancer`');
  });

  test('a rename is only offered where the record can get no other name', () => {
    for (const differences of [
      [surplus(1, 'api'), surplus(2, 'other'), add('balancer')],
      [surplus(1, 'api'), add('balancer'), add('third')],
      [surplus(1, 'api'), add(null)],
      [surplus(1, 'api'), add('balancer'), blocked('third', 'vanished')],
      [surplus(1, 'api'), surplus(2, 'x', { cause: 'drifted' }), add('balancer')],
    ])
      expect(toDos(differences)[0]).toMatch(/^you took /);
  });

  test('several records with one cause is one sentence, with a command for all', () => {
    const shared = (count: number): (string | null)[] => [
      ...new Set(toDos(Array.from({ length: count }, (_, index) => update(`n${index}`)))),
    ];
    expect(shared(2)).toEqual([expect.stringContaining(`${accept("'n0 A' 'n1 A'")} makes`)]);
    expect(shared(6)).toEqual([expect.stringContaining('`dns-template-sync accept hotel.example` makes')]);
    const many = Array.from({ length: 700 }, (_, index) => surplus(index, `n${index}`));
    expect(toDos(many)[0]).toContain('remove records 0, 1, 2, 3, 4 and 695 more in the panel');
  });
});
