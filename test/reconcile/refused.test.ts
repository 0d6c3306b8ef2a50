import { expect, test } from 'vitest';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { failing, openScene } from './pass.ts';

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
