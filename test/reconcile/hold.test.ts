import { describe, expect, test } from 'vitest';
import type { DesiredTemplate } from '../../src/model/template.ts';
import type { Pass } from '../../src/reconcile/pass.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { failing, openScene, type Scene } from './pass.ts';

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

describe('the loss of many records', () => {
  const losing = async () => {
    const scene = await known(lines(5));
    scene.actual = actualTemplate(stored(lines(5)).slice(0, 2));
    return scene;
  };

  test('does not forget a record that the file dropped meanwhile', async () => {
    const scene = await losing();
    scene.now += 60_000;
    await scene.pass(desiredTemplate(lines(2)));
    const { records } = (await scene.memory.template(17))!;
    expect(records.map(({ recordId }) => recordId)).toEqual([1, 2, 3, 4, 5]);
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
