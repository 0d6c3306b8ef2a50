import { describe, expect, test } from 'vitest';
import type { Pass } from '../../src/reconcile/pass.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { failing, openScene, type Mishap, type Scene } from './pass.ts';

const minute = 60_000;
const hour = 60 * minute;
const apex = '#1 @ A 192.0.2.1';
const file = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2']);
const waiting = { action: 'blocked', reason: 'pending-write' };

/**
 * One pass that has added a record, as #2, and, if it `isShown`, a listing that showed it; every listing after it shows the
 * template as it was before.
 */
const afterAdd = async (more: Partial<Pass> = {}, isShown = true) => {
  const before = actualTemplate([apex]);
  const scene = await openScene(before);
  const pass = (extra: Partial<Pass> = {}) => scene.pass(file, { ...more, ...extra });
  await pass();
  expect(scene.actual.records).toHaveLength(2);
  if (isShown) await pass();
  const behind = (): void => {
    for (let list = 1; list < 5; list += 1) scene.mishaps.set(`list ${list}`, () => before);
    scene.calls.length = 0;
  };
  behind();
  const remove = (): void => void (scene.actual = before);
  return { scene, pass, behind, remove };
};

const moments = ['the pass itself', 'a later pass'] as const;

/** An add whose answer was lost made #2, and a reading showed it; every listing after that one is behind. */
const afterFound = async (when: (typeof moments)[number]): Promise<Scene> => {
  const before = actualTemplate([apex]);
  const scene = await openScene(before);
  const after = actualTemplate([apex, '#2 www A 192.0.2.2']);
  scene.mishaps.set('add 1', failing('unknown', 504));
  if (when === 'the pass itself') scene.mishaps.set('list 3', () => (scene.actual = after));
  await scene.pass(file);
  if (when !== 'the pass itself') {
    scene.actual = after;
    scene.mishaps.clear();
    await scene.pass(file);
  }
  for (let list = 1; list < 5; list += 1) scene.mishaps.set(`list ${list}`, () => before);
  scene.mishaps.delete('add 1');
  scene.calls.length = 0;
  return scene;
};

describe('an add that was accepted', () => {
  test('is looked for in a second listing', async () => {
    const { scene, pass, behind } = await afterAdd();
    scene.now += minute;
    await pass();
    behind();
    scene.now += minute;
    scene.mishaps.delete('list 2');
    expect((await pass()).templates[0]).toMatchObject({ status: 'in-sync' });
    expect(scene.calls).toEqual(['list 1', 'list 2']);
  });

  test.each([0, 6])(
    'is not repeated where listings show %i records of a template, and answers all',
    async (count) => {
      const all = Array.from({ length: 8 }, (_, index) => `h${index} A 192.0.2.${index}`);
      const scene = await openScene(actualTemplate(all.map((line, index) => `#${index + 1} ${line}`)));
      const cut: Mishap = (template) => ({ ...template, records: template.records.slice(0, count) });
      const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
      const adding = desiredTemplate([...all.slice(0, count), 'www A 192.0.2.99'], { limits });
      for (let passes = 0; passes < 4; passes += 1) {
        for (let list = 1; list < 9; list += 1) scene.mishaps.set(`list ${list}`, cut);
        await scene.pass(adding);
        scene.now += 7 * 24 * 60 * minute;
      }
      expect(scene.actual.records.filter(({ name }) => name === 'www')).toHaveLength(1);
    },
  );

  test('is waited for, too, with state of an older version', async () => {
    const { scene, pass } = await afterAdd();
    const { row, records } = (await scene.memory.template(17))!;
    const older = records.map((record) => {
      const { replaced: _, ...stored } = record.stored ?? { sent: record.wanted, at: [] };
      return record.stored ? { ...record, stored } : record;
    });
    await scene.memory.save({ row, records: older, forgotten: [] });
    scene.now += minute;
    expect((await pass()).templates[0]?.differences).toMatchObject([waiting]);
  });
});

describe('an add whose answer was lost and that a reading showed', () => {
  test.each(moments)('is not repeated while listings may be behind: %s', async (when) => {
    const scene = await afterFound(when);
    scene.now += minute;
    expect((await scene.pass(file)).templates[0]?.differences).toMatchObject([waiting]);
    expect(scene.calls).not.toContain('add 1');
  });
});

describe.each([
  ['forward', hour],
  ['back', -hour],
])('an add after which the wall clock jumps %s', (_, jump) => {
  test.each<[string, () => Promise<Scene>]>([
    ['answered', async () => (await afterAdd()).scene],
    ...moments.map((when): [string, () => Promise<Scene>] => [`found by ${when}`, () => afterFound(when)]),
  ])('is waited for as long as any other: %s', async (__, open) => {
    const scene = await open();
    scene.jumped += jump;
    scene.now += jump + minute;
    expect((await scene.pass(file)).templates[0]?.differences).toMatchObject([waiting]);
    expect(scene.calls).not.toContain('add 1');
    scene.mishaps.clear();
    scene.actual = actualTemplate([apex]);
    scene.now += 9 * minute;
    expect((await scene.pass(file)).templates[0]?.differences).toMatchObject([
      { action: 'add', outcome: 'applied' },
    ]);
  });
});

test.each(['www', 'www.'])(
  'no other record leaves the name of an add that may have been removed, stored as %s',
  async (name) => {
    const scene = await openScene(actualTemplate([apex]));
    const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
    const parking = { ...file, surplus: 'park', adopt: true, limits } as const;
    scene.mishaps.set('add 1', () => (scene.actual = actualTemplate([apex, `#2 ${name} A 192.0.2.2`])));
    await scene.pass(parking);
    scene.calls.length = 0;
    scene.now += minute;
    scene.actual = actualTemplate([apex, '#3 www A 192.0.2.9']);
    await scene.pass(parking);
    expect(scene.calls).not.toContain('update 1');
    scene.now += 10 * minute;
    await scene.pass(parking);
    scene.now += minute;
    await scene.pass(parking);
    expect(scene.actual.records).toMatchObject([{ id: 1 }, { id: 3, name: 'www', content: '192.0.2.2' }]);
  },
);

describe('a record that a listing shows as it was before, and as the file wants it again', () => {
  /** #2 was changed, and the outcome of changing it back is not known. */
  const changedBack = async (first: string, second: string, more: Parameters<typeof desiredTemplate>[1]) => {
    const fileOf = (...records: readonly string[]) =>
      desiredTemplate(['@ A 192.0.2.1', ...records], { limits, ...more });
    const scene = await openScene(actualTemplate([apex, `#2 ${first}`]));
    await scene.pass(fileOf(first));
    await scene.pass(fileOf(second));
    scene.mishaps.set('update 1', failing('unknown', null));
    scene.now += minute;
    await scene.pass(fileOf(first));
    scene.mishaps.clear();
    scene.calls.length = 0;
    scene.actual = actualTemplate([apex, `#2 ${first}`]);
    scene.now += minute;
    return { scene, fileOf };
  };
  const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
  const unchanged = (scene: Scene) => scene.calls.every((call) => call.startsWith('list'));

  test('serves no other one', async () => {
    const record = 'www 60 A 192.0.2.2';
    const { scene, fileOf } = await changedBack(record, 'www 300 A 192.0.2.3', {});
    await scene.pass(fileOf(record, 'www 300 A 192.0.2.4'));
    expect(unchanged(scene)).toBe(true);
  });
});

test('a record counts for conflicts also as a listing that may be behind shows it', async () => {
  const before = actualTemplate([apex, '#2 mail MX 10 .', '#3 mail MX 20 b.example.org']);
  const withSecond = (second: string) =>
    desiredTemplate(['@ A 192.0.2.1', 'mail MX 10 a.example.net', `mail MX 20 ${second}`]);
  const scene = await openScene(before);
  await scene.pass(withSecond('b.example.org'));
  expect(scene.calls).toContain('update 1');
  scene.calls.length = 0;
  for (const list of ['list 1', 'list 2']) scene.mishaps.set(list, () => before);
  const { templates } = await scene.pass(withSecond('c.example.net'));
  expect(templates[0]?.differences).toContainEqual(expect.objectContaining({ reason: 'null-mx-conflict' }));
  expect(scene.calls.filter((call) => call.startsWith('update'))).toEqual([]);
});

test('an add is waited for, too, where the outcome of parking its record is unknown', async () => {
  const before = actualTemplate([apex]);
  const scene = await openScene(before);
  const parking = (record: string) => desiredTemplate(['@ A 192.0.2.1', record], { surplus: 'park' });
  await scene.pass(parking('www CNAME web.example.org'));
  scene.calls.length = 0;
  scene.mishaps.set('update 1', failing('unknown', null));
  await scene.pass(parking('www A 192.0.2.2'));
  expect(scene.calls).toContain('update 1');
  scene.calls.length = 0;
  for (const list of ['list 1', 'list 2']) scene.mishaps.set(list, () => before);
  const { templates } = await scene.pass(parking('www A 192.0.2.2'));
  expect(templates[0]?.differences[0]).toMatchObject(waiting);
  expect(scene.calls.filter((call) => call.startsWith('add'))).toEqual([]);
});

test('an add is waited for anew where the clock was set back while the machine was off', async () => {
  const { scene, pass, remove } = await afterAdd();
  remove();
  const booted = scene.now - 2 * hour;
  const clock = {
    now: () => scene.now,
    uptime: () => ({ boot: 'c', at: scene.now - booted }),
    sleep: () => Promise.resolve(),
  };
  scene.now -= hour;
  const retryAt = new Date(scene.now + 10 * minute).toISOString();
  for (const later of [0, 9 * minute]) {
    scene.now += later;
    expect((await pass({ clock })).templates[0]?.differences).toMatchObject([{ ...waiting, retryAt }]);
  }
  scene.now += minute;
  expect((await pass({ clock })).templates[0]?.differences).toMatchObject([
    { action: 'add', outcome: 'applied' },
  ]);
});

describe('a record that was added and that no listing shows yet', () => {
  test('may be gone: a copy that somebody makes of it serves no other record meanwhile', async () => {
    const { scene } = await afterAdd();
    const retryAt = new Date(scene.now + 10 * minute).toISOString();
    scene.now += 1_000;
    for (const list of ['list 1', 'list 2'])
      scene.mishaps.set(list, () => actualTemplate([apex, '#3 www A 192.0.2.2']));
    const both = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2', 'www A 192.0.2.3']);
    expect((await scene.pass(both)).templates[0]?.differences).toContainEqual(
      expect.objectContaining({ ...waiting, recordId: 3, retryAt }),
    );
    expect(scene.calls).not.toContain('update 1');
  });
});

describe('an update that was accepted', () => {
  const listed = (content: string) => actualTemplate([`#1 @ A ${content}`, '#2 www A 192.0.2.2']);
  const wanting = (content: string, ...more: readonly string[]) =>
    desiredTemplate([`@ A ${content}`, 'www A 192.0.2.2', ...more]);

  /** The listings show the first content; the service has the second one. */
  const afterUpdate = async (mishap?: Mishap) => {
    const scene = await openScene(listed('192.0.2.1'));
    await scene.pass(wanting('192.0.2.1'));
    if (mishap) scene.mishaps.set('update 1', mishap);
    await scene.pass(wanting('192.0.2.7'));
    const show = (content: string): void => {
      scene.mishaps.clear();
      for (let list = 1; list < 5; list += 1) scene.mishaps.set(`list ${list}`, () => listed(content));
      scene.calls.length = 0;
    };
    show('192.0.2.1');
    const pass = async (content: string, ...more: readonly string[]) =>
      (await scene.pass(wanting(content, ...more))).templates[0]!.differences;
    return { scene, show, pass };
  };

  test('is shown by a listing that shows it, also if the record was the same before', async () => {
    const { show, pass } = await afterUpdate();
    await pass('192.0.2.1');
    show('192.0.2.1');
    expect(await pass('192.0.2.1')).toEqual([]);
  });

  test('keeps every add waiting, which is promised no time', async () => {
    const { scene, pass } = await afterUpdate();
    const differences = await pass('192.0.2.7', '@ A 192.0.2.20', 'api A 192.0.2.3');
    const adds = differences.filter((one) => !('recordId' in one) || one.recordId !== 1);
    expect(adds).toMatchObject([waiting, waiting]);
    for (const one of adds) expect(one).not.toHaveProperty('retryAt');
    expect(scene.calls).not.toContain('add 1');
  });

  test('does not hide the effect of the next one, whose answer was in doubt', async () => {
    const { scene, pass } = await afterUpdate();
    scene.mishaps.clear();
    scene.mishaps.set('update 1', (template) => ({ ...template, records: template.records.slice(1) }));
    expect(await pass('192.0.2.1')).toMatchObject([{ action: 'update', outcome: 'applied' }]);
  });

  test('of unknown outcome at first is waited for by the monotonic clock, too', async () => {
    const { scene, show, pass } = await afterUpdate(failing('unknown', 504));
    show('192.0.2.7');
    await pass('192.0.2.7');
    show('192.0.2.1');
    scene.jumped += hour;
    scene.now += hour + minute;
    expect(await pass('192.0.2.7')).toMatchObject([waiting]);
  });
});
