import { expect, test } from 'vitest';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { openScene } from './pass.ts';

test('an add waits if the first reading required an update instead', async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1', '#2 www 300 A 192.0.2.2']));
  scene.mishaps.set('list 2', () => {
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www 300 A 192.0.2.3']);
    return scene.actual;
  });
  const { templates } = await scene.pass(
    desiredTemplate(['@ A 192.0.2.1', 'www 3600 A 192.0.2.2', 'www A 192.0.2.3']),
  );
  expect(scene.calls).toEqual(['list 1', 'list 2']);
  expect(templates[0]!.differences).toMatchObject([{ action: 'add', outcome: 'skipped' }]);
});

test('a confirmed step is not held back by a listing made for another template', async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2']));
  await scene.pass(desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2']));
  scene.now += 60_000;
  scene.calls.length = 0;
  scene.beside = [{ ...actualTemplate(['#8 @ A 192.0.2.8']), id: 18, name: 'mail' }];
  scene.mishaps.set('list 2', (template) => ({ ...template, records: template.records.slice(1) }));
  const { templates } = await scene.pass([
    desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.3']),
    desiredTemplate(['@ A 192.0.2.9'], { template: 'mail' }),
  ]);
  expect(scene.calls.slice(0, 3)).toEqual(['list 1', 'list 2', 'update 1']);
  expect(templates[0]!.differences).toMatchObject([{ action: 'update', outcome: 'applied' }]);
});

test('a confirmed add is not sent if the newest listing shows its record in the place of another one', async () => {
  const scene = await openScene(actualTemplate(['#1 mail A 192.0.2.1', '#2 www A 192.0.2.2']));
  await scene.pass(desiredTemplate(['mail A 192.0.2.1', 'www A 192.0.2.2']));
  scene.now += 60_000;
  scene.beside = [{ ...actualTemplate(['#8 @ A 192.0.2.8']), id: 18, name: 'mail' }];
  // Somebody removes a record, too.
  scene.mishaps.set('list 2', () => (scene.actual = actualTemplate(['#2 www A 192.0.2.3'])));
  scene.calls.length = 0;
  await scene.pass([
    desiredTemplate(['mail A 192.0.2.1', 'www A 192.0.2.2', 'www A 192.0.2.3']),
    desiredTemplate(['@ A 192.0.2.9'], { template: 'mail' }),
  ]);
  expect(scene.calls).not.toContain('add 1');
});

test('it does not matter which parked record is reused', async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1', '#5 _parked-5 A 0.0.0.0']));
  scene.mishaps.set('list 2', (template) => {
    const more = actualTemplate(['#3 _parked-3 A 0.0.0.0']).records;
    return (scene.actual = { ...template, records: [...template.records, ...more] });
  });
  const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
  await scene.pass(desiredTemplate(['@ A 192.0.2.1', 'api A 192.0.2.3'], { surplus: 'park', limits }));
  expect(scene.calls).toEqual(['list 1', 'list 2', 'update 1']);
  expect(scene.actual.records).toContainEqual(expect.objectContaining({ id: 3, name: 'api' }));
});
