import { describe, expect, test } from 'vitest';
import type { DesiredTemplate } from '../../src/model/template.ts';
import type { Pass } from '../../src/reconcile/pass.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { failing, openScene, type Scene } from './pass.ts';

const limits = { maxAdds: 100, maxChangePercent: 30, minRecords: 10 };
const lines = (count: number) => Array.from({ length: count }, (_, at) => `h${at + 1} A 192.0.2.${at + 1}`);
const stored = (records: readonly string[]) => records.map((line, at) => `#${at + 1} ${line}`);
const changed = (records: readonly string[], count: number) =>
  records.map((line, at) => (at < count ? line.replace('192.0.2', '198.51.100') : line));

/** Known and in sync. */
const known = async (records: readonly string[]): Promise<Scene> => {
  const scene = await openScene(actualTemplate(stored(records)));
  await scene.pass(desiredTemplate(records));
  scene.calls.length = 0;
  return scene;
};

const writesOf = ({ calls }: Scene): string[] => calls.filter((call) => !call.startsWith('list'));

const writesAfter = async (scene: Scene, desired: DesiredTemplate, more: Partial<Pass> = {}) => {
  await scene.pass(desired, more);
  return writesOf(scene);
};

describe('mode', () => {
  const edit = ['h1 A 192.0.2.1', 'h2 A 192.0.2.99'];

  test.each<[DesiredTemplate['mode'], string, readonly string[], readonly string[], readonly string[]]>([
    ['report', 'an edit', edit, lines(2), []],
    ['edits', 'an edit', edit, lines(2), ['update 1']],
    ['edits', 'a change at the service', lines(2), edit, []],
    ['edits', 'both', edit, ['h1 A 192.0.2.1', 'h2 A 192.0.2.98'], ['update 1']],
    ['enforce', 'a change at the service', lines(2), edit, ['update 1']],
  ])('%s, %s', async (mode, _, file, service, writes) => {
    const scene = await known(lines(2));
    scene.actual = actualTemplate(stored(service));
    expect(await writesAfter(scene, desiredTemplate(file, { mode }))).toEqual(writes);
  });

  test('edits, at first contact: the causes are unknown', async () => {
    const scene = await openScene(actualTemplate(stored(lines(2))));
    expect(await writesAfter(scene, desiredTemplate(edit, { mode: 'edits' }))).toEqual([]);
    const forced = await writesAfter(scene, desiredTemplate(edit, { mode: 'edits' }), { force: true });
    expect(forced).toEqual(['update 1']);
  });
});

test('mode edits writes only what an edit caused, also after a refusal at first contact', async () => {
  const scene = await openScene(actualTemplate(stored(lines(2))));
  scene.mishaps.set('add 1', failing('refused', 422));
  expect(await writesAfter(scene, desiredTemplate(lines(3)))).toEqual(['add 1']);
  scene.mishaps.clear();
  scene.calls.length = 0;
  const edits = desiredTemplate(lines(3), { mode: 'edits' });
  expect(await writesAfter(scene, edits, { trigger: 'command' })).toEqual([]);
});

describe('limits of adds', () => {
  test.each([
    ['as many as a pass may make', 2, ['add 1', 'add 2']],
    ['one more', 1, []],
  ])('%s', async (_, maxAddsPerPass, writes) => {
    const scene = await known(lines(2));
    const plan = await scene.pass(desiredTemplate(lines(4)), { maxAddsPerPass, writer: null });
    expect(plan.templates[0]!.status).toBe(writes.length === 0 ? 'held' : 'drifted');
    expect(await writesAfter(scene, desiredTemplate(lines(4)), { maxAddsPerPass })).toEqual(writes);
  });

  test('hold everything', async () => {
    const scene = await known(lines(2));
    const file = desiredTemplate([...changed(lines(1), 1), ...lines(4).slice(1)], {
      limits: { ...limits, maxAdds: 1 },
    });
    expect(await writesAfter(scene, file)).toEqual([]);
  });

  test('adds that only an answer requires wait for the next pass', async () => {
    const scene = await known(lines(3));
    const file = [...changed(lines(1), 1), 'h2 A 192.0.2.2', 'h3 A 192.0.2.3', 'else A 192.0.2.3'];
    const desired = desiredTemplate(file, { limits });
    scene.actual = actualTemplate([...stored(lines(3)), '#4 else A 192.0.2.3']);
    // Somebody renames a record while this program writes another one.
    scene.mishaps.set('update 1', (template) => {
      const records = template.records.map((one) => (one.id === 4 ? { ...one, name: 'gone' } : one));
      scene.actual = { ...template, records };
      return scene.actual;
    });
    expect(await writesAfter(scene, desired)).toEqual(['update 1']);
    expect(await writesAfter(scene, desired)).toEqual(['update 1', 'add 1']);
  });
});

test('written changes count together with the changes that answers require', async () => {
  const scene = await known(lines(10));
  const file = desiredTemplate(changed(lines(10), 3));
  // Three of ten are within the limit, and the fourth is not.
  scene.mishaps.set('update 3', (template) => {
    const records = template.records.map((one) => (one.id === 9 ? { ...one, content: '203.0.113.9' } : one));
    scene.actual = { ...template, records };
    return scene.actual;
  });
  expect(await writesAfter(scene, file)).toEqual(['update 1', 'update 2', 'update 3']);
});

describe('the loss of many records', () => {
  const losing = async () => {
    const scene = await known(lines(5));
    scene.actual = actualTemplate(stored(lines(5)).slice(0, 2));
    return scene;
  };

  test('holds the adds until a second pass sees the same', async () => {
    const scene = await losing();
    expect(await writesAfter(scene, desiredTemplate(lines(5)))).toEqual([]);
    expect(await writesAfter(scene, desiredTemplate(lines(5)))).toEqual(['add 1', 'add 2', 'add 3']);
  });

  test('is not confirmed by a pass whose readings disagree', async () => {
    const scene = await losing();
    scene.mishaps.set('list 2', (template) => ({ ...template, records: template.records.slice(1) }));
    expect(await writesAfter(scene, desiredTemplate(lines(5)))).toEqual([]);
    scene.mishaps.clear();
    expect(await writesAfter(scene, desiredTemplate(lines(5)))).toEqual([]);
    expect(await writesAfter(scene, desiredTemplate(lines(5)))).toEqual(['add 1', 'add 2', 'add 3']);
  });

  test('is forgotten when the records are back', async () => {
    const scene = await losing();
    await scene.pass(desiredTemplate(lines(5)));
    const { actual } = scene;
    scene.actual = actualTemplate(stored(lines(5)));
    await scene.pass(desiredTemplate(lines(5)));
    scene.actual = actual;
    expect(await writesAfter(scene, desiredTemplate(lines(5)))).toEqual([]);
  });

  test('does not forget a record that the file dropped meanwhile', async () => {
    const scene = await losing();
    scene.now += 60_000;
    await scene.pass(desiredTemplate(lines(2)));
    const { records } = (await scene.memory.template(17))!;
    expect(records.map(({ recordId }) => recordId)).toEqual([1, 2, 3, 4, 5]);
  });

  test('holds nothing once a person accepts it', async () => {
    const scene = await losing();
    const writes = await writesAfter(scene, desiredTemplate(lines(5)), { acceptLoss: true });
    expect(writes).toEqual(['add 1', 'add 2', 'add 3']);
  });
});

describe('files', () => {
  const state = { templates: [], problems: [], files: 0, unusable: [] } as const;

  test('hold their templates when all of them are gone', async () => {
    const scene = await known(lines(2));
    const { templates } = await scene.pass(state);
    expect(templates).toMatchObject([{ id: 17, status: 'held' }]);
  });

  test('with an error hold their templates', async () => {
    const scene = await known(lines(2));
    const unusable = [{ file: 'web.yaml', template: 'web', id: null, message: 'line 3 is wrong' }];
    const { templates } = await scene.pass({ ...state, files: 1, unusable });
    expect(templates).toMatchObject([{ template: 'web', status: 'held', message: 'line 3 is wrong' }]);
  });
});

test('a plan changes no saved state', async () => {
  const scene = await openScene(actualTemplate(stored(lines(2))));
  scene.mishaps.set('update 1', failing('refused', 422));
  await scene.pass(desiredTemplate(changed(lines(2), 1)));
  const before = await scene.memory.template(17);
  for (const trigger of ['schedule', 'command'] as const)
    await scene.pass(desiredTemplate(changed(lines(2), 1)), { writer: null, trigger });
  expect(await scene.memory.template(17)).toEqual(before);
});

test('while the saved state may have lost an add, updates are sent and adds are not', async () => {
  const scene = await known(lines(20));
  const edited = desiredTemplate([...changed(lines(20), 1), 'new A 192.0.2.99']);
  const result = await scene.pass(edited, { holdsAdds: 'the store was failed over' });
  expect(writesOf(scene)).toEqual(['update 1']);
  expect(result.templates[0]?.message).toContain('the store was failed over');
  expect(await writesAfter(scene, edited)).toEqual(['update 1', 'add 1']);
  const inSync = await scene.pass(edited, { holdsAdds: 'the store was failed over' });
  expect(inSync.templates[0]).toMatchObject({ status: 'in-sync', message: null });
});
