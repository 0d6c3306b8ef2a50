import { expect, test } from 'vitest';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { openScene } from './pass.ts';

const file = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2']);
const before = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.9']);

test('a value that came later than the answer is not given up: put back by somebody, it is corrected', async () => {
  const scene = await openScene(before);
  scene.mishaps.set('update 1', () => before);
  for (let list = 2; list < 9; list += 1) scene.mishaps.set(`list ${list}`, () => before);
  await scene.pass(file);
  scene.mishaps.clear();
  scene.now += 3_600_000;
  expect((await scene.pass(file)).templates[0]).toMatchObject({ status: 'in-sync' });
  scene.actual = before;
  scene.now += 3_600_000;
  expect((await scene.pass(file)).templates[0]?.differences).toMatchObject([{ outcome: 'applied' }]);
});
