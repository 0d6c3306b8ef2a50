import { describe, expect, test } from 'vitest';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { failing, openScene, type Mishap } from './pass.ts';

test('a refused value waits for its next try, though its record has become another one of the file', async () => {
  const scene = await openScene(actualTemplate(['#1 www A 192.0.2.1', '#2 www A 192.0.2.2']));
  await scene.pass(desiredTemplate(['www A 192.0.2.1', 'www A 192.0.2.2']));
  scene.actual = actualTemplate(['#1 www A 192.0.2.1', '#2 www A 192.0.2.3']);
  const file = desiredTemplate(['www A 192.0.2.3', 'www A 192.0.2.2']);
  scene.mishaps.set('update 1', failing('refused', 400));
  const { templates } = await scene.pass(file);
  expect(templates[0]?.differences).toMatchObject([
    { action: 'update', recordId: 1, outcome: 'failed', retryAt: new Date(scene.now + 60_000).toISOString() },
  ]);
  scene.calls.length = 0;
  scene.now += 59_999;
  expect((await scene.pass(file)).templates[0]?.differences).toMatchObject([
    { action: 'blocked', reason: 'refused' },
  ]);
  expect(scene.calls).not.toContain('update 1');
});

const file = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2']);
const before = actualTemplate(['#1 @ A 192.0.2.1']);

/** A pass whose add was refused, and had an effect nevertheless; the reading after it is this one. */
const afterFalseRefusal = async (reread: Mishap) => {
  const scene = await openScene(before);
  await scene.pass(desiredTemplate(['@ A 192.0.2.1']));
  scene.mishaps.set('add 1', failing('refused', 409));
  scene.mishaps.set('list 3', reread);
  const { templates } = await scene.pass(file);
  expect(templates[0]).toMatchObject({ status: 'failed' });
  scene.mishaps.clear();
  scene.calls.length = 0;
  return scene;
};

describe('a refused add that took effect', () => {
  test.each<[string, Mishap]>([
    ['there is no reading after it', failing('unavailable', 503)],
    ['the reading after it lacks other records', () => ({ ...before, records: [] })],
  ])('waits like any add of unknown outcome if %s', async (_, reread) => {
    const scene = await afterFalseRefusal(reread);
    scene.now += 299_999;
    expect((await scene.pass(file)).templates[0]?.differences).toMatchObject([
      { action: 'blocked', reason: 'pending-write' },
    ]);
    expect(scene.calls).not.toContain('add 1');
  });

  test('is sent again only after two readings since', async () => {
    const scene = await afterFalseRefusal(() => before);
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2']);
    scene.mishaps.set('list 1', () => before);
    scene.now += 61_000;
    expect((await scene.pass(file)).templates[0]).toMatchObject({ status: 'in-sync' });
    expect(scene.calls).toEqual(['list 1', 'list 2']);
  });
});
