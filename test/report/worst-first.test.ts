import { expect, test } from 'vitest';
import type { RecordData } from '../../src/model/record.ts';
import type { Difference } from '../../src/plan/difference.ts';
import { worstFirst } from '../../src/report/worst-first.ts';
import { template } from './every-kind.ts';

const add = (desired: Partial<RecordData>, more: Partial<Difference> = {}): Difference =>
  ({
    action: 'add',
    desired: { type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: null, ...desired },
    cause: 'edited',
    source: { file: 'web.yaml', line: 9, column: 5 },
    ...more,
  }) as Difference;

test('records are sorted as people would: by name, type and priority, after what needs somebody', () => {
  const differences = [
    add({ name: 'host10' }),
    add({ type: 'MX', content: 'mx1.example.net', priority: 100 }),
    add({ name: 'host2' }),
    add({ type: 'MX', content: 'mx2.example.net', priority: 20 }),
    add({ name: 'done' }, { outcome: 'applied' }),
    add({}),
    add({ name: 'zone' }, { outcome: 'failed' }),
  ];
  const [sorted] = worstFirst([template({ differences })]);
  const names = sorted?.differences.map((one) =>
    'desired' in one
      ? `${one.desired.name ?? '@'} ${one.desired.type} ${one.desired.priority ?? ''}`.trim()
      : '',
  );
  expect(names).toEqual(['zone A', '@ A', '@ MX 20', '@ MX 100', 'host2 A', 'host10 A', 'done A']);
});
