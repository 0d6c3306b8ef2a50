import { describe, expect, test } from 'vitest';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { openMemory } from '../../src/memory/memory.ts';
import { claimArrived } from '../../src/reconcile/core/arrivals.ts';
import type { Pass } from '../../src/reconcile/pass.ts';
import { data, desiredTemplate, actualTemplate } from '../plan/records.ts';
import { rememberedRecord, rowOf } from '../state/samples.ts';
import { failing, openScene } from './pass.ts';
import { moment } from './state.ts';

const minute = 60_000;
const file = (...records: readonly string[]) => desiredTemplate(['@ A 192.0.2.1', ...records]);

/** One pass in which the answer to an add was lost. */
const afterLoss = async (unknownPause: number) => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1']));
  const pass = (record: string, more: Partial<Pass> = {}) =>
    scene.pass(file(record), { unknownPause, ...more });
  scene.mishaps.set('add 1', failing('unknown', null));
  const until = scene.now + unknownPause;
  const { templates } = await pass('www A 192.0.2.2');
  expect(templates[0]?.differences).toMatchObject([
    { outcome: 'failed', retryAt: new Date(until).toISOString() },
  ]);
  scene.calls.length = 0;
  return { scene, pass, until };
};

test('an absent add is not retried beside a record that it may have made, and somebody changed', async () => {
  const { scene, pass, until } = await afterLoss(5 * minute);
  scene.mishaps.clear();
  scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#9 www. A 192.0.2.7']);
  await scene.pass(desiredTemplate(['@ A 192.0.2.1']));
  scene.now = until;
  const { templates } = await pass('www A 192.0.2.2');
  expect(templates[0]?.differences[0]).toMatchObject({ action: 'blocked', reason: 'pending-write' });
  expect(scene.calls).not.toContain('add 1');
});

test('what arrives between two readings is ours, too', async () => {
  const { scene, pass, until } = await afterLoss(5 * minute);
  scene.mishaps.clear();
  const before = scene.actual;
  scene.mishaps.set('list 1', () => before);
  scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#9 www. A 192.0.2.2']);
  scene.now = until;
  const { templates } = await pass('www A 192.0.2.2');
  expect(templates[0]?.differences).toMatchObject([{ reason: 'not-converging', recordId: 9 }]);
});

describe('what arrives late', () => {
  const keyOf = (line: string): string => recordKey(entryOf(data(line)));
  const www = 'www A 192.0.2.2';
  test.each<
    [string, readonly string[], readonly string[], readonly string[], Record<string, number[]>, number[]?]
  >([
    [
      'as it was sent, beside a similar one',
      [www],
      [www],
      ['#8 www. A 192.0.2.2', `#9 ${www}`],
      { [www]: [9, 8] },
    ],
    ['twice', [www], [www], [`#9 ${www}`, `#8 ${www}`], { [www]: [8, 9] }],
    ['with another content', [www], [www], ['#9 www. A 192.0.2.3'], {}],
    ['beside what an answer showed of somebody else', [www], [www], ['#9 x A 192.0.2.3'], {}, [9]],
    ['as another desired one', [www], [www, 'www.x A 192.0.2.2'], ['#9 www.x A 192.0.2.2'], {}],
    ['as two similar ones', [www], [www], ['#8 www. A 192.0.2.2', '#9 www.x A 192.0.2.2'], {}],
    [
      'as it was sent, beside one that is similar to two adds',
      [www, 'www.a.b A 192.0.2.2'],
      [www],
      ['#8 www.a A 192.0.2.2', `#9 ${www}`],
      { [www]: [9] },
    ],
    ['similar to two adds', [www, 'www.a.b A 192.0.2.2'], [www], ['#9 www.a A 192.0.2.2'], {}],
    [
      'as one add, and similar to another',
      [www, 'www.x A 192.0.2.2'],
      ['www.x A 192.0.2.2'],
      [`#9 ${www}`],
      { [www]: [9] },
    ],
  ])('%s', (_, sent, desired, listed, expected, answeredIds = []) => {
    const records = sent.map((line) => {
      const failure = { kind: 'unknown', message: '', count: 1, sent: data(line), idsBefore: [1] } as const;
      const nothing = { recordId: null, seen: null, stored: null, rewritten: null, cause: null } as const;
      const open = { ...failure, retryAt: 0, pause: 0 };
      return rememberedRecord(keyOf(line), { ...nothing, wanted: data(line), adds: 1, failure: open });
    });
    const memory = openMemory({ row: { ...rowOf(), answeredIds }, records }, rowOf());
    const times = { now: moment.now, settle: 10_000, unknownPause: 300_000 };
    const basis = {
      desired: desiredTemplate(desired),
      memory,
      view: actualTemplate(listed),
      pending: [],
      ...times,
    };
    const claimed = [...claimArrived(basis, moment).records.values()];
    const found = claimed.flatMap(({ key, recordId, copies = [] }) =>
      recordId === null ? [] : [[key, [recordId, ...copies]]],
    );
    const wanted = Object.entries(expected).map(([line, ids]) => [keyOf(line), ids]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
  });
});

describe('the backoff after an absent add', () => {
  test.each<[string, string, (now: number) => Partial<Pass>]>([
    ['an apply', 'www A 192.0.2.2', () => ({ trigger: 'command' })],
    ['an edit of the record', 'www 600 A 192.0.2.2', () => ({})],
    ['a record of another content in its place', 'www A 192.0.2.3', () => ({})],
    [
      'a clock that jumps',
      'www A 192.0.2.2',
      (now) => ({
        clock: {
          now: () => now + 600 * minute,
          uptime: () => ({ boot: 'b', at: now }),
          sleep: () => Promise.resolve(),
        },
      }),
    ],
  ])('is not ended by %s', async (_, record, more) => {
    const { scene, pass, until } = await afterLoss(5 * minute);
    scene.mishaps.clear();
    scene.now = until - minute;
    const { templates } = await pass(record, more(scene.now));
    expect(templates[0]?.differences).toMatchObject([{ action: 'blocked', reason: 'pending-write' }]);
    expect(scene.calls).not.toContain('add 1');
  });
});

test('no record gets the name of an absent add that may still come', async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1', '#4 www A 192.0.2.7']));
  await scene.pass(file('www A 192.0.2.7'));
  scene.mishaps.set('add 1', failing('unknown', null));
  await scene.pass(file('www A 192.0.2.7', 'www A 192.0.2.2'));
  scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#4 old A 192.0.2.7']);
  const { templates } = await scene.pass(file('www A 192.0.2.7'));
  expect(templates[0]?.differences).toMatchObject([{ action: 'blocked', reason: 'pending-write' }]);
});

test('a record set with two absent adds gets no reused record either', async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1', '#4 api A 192.0.2.7']));
  const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
  const parking = (...records: readonly string[]) =>
    ({ ...file(...records), surplus: 'park', limits }) as const;
  await scene.pass(parking('api A 192.0.2.7'));
  scene.mishaps.set('add 1', failing('unknown', null));
  for (let adds = 0; adds < 2; adds += 1) {
    await scene.pass(parking('api A 192.0.2.7', 'www A 192.0.2.2'));
    expect(scene.calls).toContain('add 1');
    scene.calls.length = 0;
    scene.now += 24 * 60 * minute;
  }
  const { templates } = await scene.pass(parking('www A 192.0.2.3'));
  expect(templates[0]!.differences).toContainEqual(expect.objectContaining({ reason: 'pending-write' }));
  expect(scene.actual.records.map(({ name }) => name)).not.toContain('www');
});

test('an add that is refused long after one of unknown outcome leaves the name to what made way for it', async () => {
  const { scene, pass, until } = await afterLoss(5 * minute);
  scene.mishaps.clear();
  scene.now = until;
  await pass('www CNAME web.example.org');
  scene.now += 24 * 60 * minute;
  scene.calls.length = 0;
  scene.mishaps.set('add 1', failing('refused', 422));
  const records = ['@ A 192.0.2.1', 'www A 192.0.2.2'];
  const { templates } = await scene.pass({ ...desiredTemplate(records), surplus: 'park' });
  expect(templates[0]?.differences).toMatchObject([
    { action: 'park', outcome: 'failed' },
    { outcome: 'failed' },
  ]);
  expect(scene.actual.records.map(({ name, type }) => `${name ?? '@'} ${type}`)).toEqual([
    '@ A',
    'www CNAME',
  ]);
});
