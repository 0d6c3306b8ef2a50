import { describe, expect, test } from 'vitest';
import type { Pass } from '../../src/reconcile/pass.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { openScene } from './pass.ts';

const minute = 60_000;
const file = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2']);

/** One pass that has added a record, as #2; every listing after it shows the template as it was before. */
const afterAdd = async (more: Partial<Pass> = {}) => {
  const before = actualTemplate(['#1 @ A 192.0.2.1']);
  const scene = await openScene(before);
  const pass = (extra: Partial<Pass> = {}) => scene.pass(file, { ...more, ...extra });
  await pass();
  expect(scene.actual.records).toHaveLength(2);
  const behind = (): void => {
    for (let list = 1; list < 5; list += 1) scene.mishaps.set(`list ${list}`, () => before);
    scene.calls.length = 0;
  };
  behind();
  const remove = (): void => void (scene.actual = before);
  return { scene, pass, behind, remove };
};

describe('an add that was accepted', () => {
  test('is not repeated while listings may be behind, and the report says until when', async () => {
    const { scene, pass } = await afterAdd();
    const until = scene.now + 10 * minute;
    scene.now = until - 1;
    expect((await pass()).templates[0]?.differences).toMatchObject([
      { action: 'blocked', reason: 'pending-write', retryAt: new Date(until).toISOString() },
    ]);
    expect(scene.calls).not.toContain('add 1');
  });

  test('is looked for in a second listing', async () => {
    const { scene, pass } = await afterAdd();
    scene.now += 1;
    scene.mishaps.delete('list 2');
    expect((await pass()).templates[0]).toMatchObject({ status: 'in-sync' });
    expect(scene.calls).toEqual(['list 1', 'list 2']);
  });

  test('is repeated after that', async () => {
    const { scene, pass, remove } = await afterAdd();
    remove();
    scene.now += 10 * minute;
    expect((await pass()).templates[0]?.differences).toMatchObject([{ action: 'add', outcome: 'applied' }]);
  });

  test('is repeated when a person says so', async () => {
    const { pass, remove } = await afterAdd();
    remove();
    const { templates } = await pass({ trigger: 'command', retry: true });
    expect(templates[0]?.differences).toMatchObject([{ action: 'add', outcome: 'applied' }]);
  });

  test('is waited for as long as the service may need, by its settle', async () => {
    const { scene, pass, behind, remove } = await afterAdd({ settle: 100 });
    remove();
    scene.now += 5_999;
    expect((await pass()).templates[0]?.differences).toMatchObject([{ action: 'blocked' }]);
    behind();
    scene.now += 1;
    expect((await pass()).templates[0]?.differences).toMatchObject([{ action: 'add', outcome: 'applied' }]);
  });
});
