import { expect, test } from 'vitest';
import { writeKey } from '../../src/reconcile/core/attempt.ts';
import { planOf } from '../../src/reconcile/core/basis.ts';
import { confirmBy } from '../../src/reconcile/core/two-readings.ts';
import { desiredTemplate, presentTemplate } from '../plan/records.ts';
import { openScene } from './pass.ts';
import { moment, newState } from './state.ts';

test('only what both readings ask for is confirmed', () => {
  const state = newState(
    ['@ A 192.0.2.1', 'api A 192.0.2.3', 'www A 192.0.2.2'],
    ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'],
  );
  // In the second one, another record is missing too.
  const second = presentTemplate(['#1 @ A 192.0.2.1', '#2 other A 192.0.2.2']);
  const { basis, confirmed } = confirmBy(state, second, moment);
  const steps = planOf(basis, 0).steps.map((step) => [
    'wanted' in step && step.wanted.name,
    confirmed.has(writeKey(step)),
  ]);
  expect(steps).toEqual([
    ['api', true],
    ['www', false],
  ]);
});

test('an add that the first reading asks for as a change of what it still showed waits', async () => {
  const scene = await openScene(presentTemplate(['#1 @ A 192.0.2.1', '#2 www 300 A 192.0.2.2']));
  scene.mishaps.set('list 2', () => {
    scene.present = presentTemplate(['#1 @ A 192.0.2.1', '#2 www 300 A 192.0.2.3']);
    return scene.present;
  });
  const { templates } = await scene.pass(
    desiredTemplate(['@ A 192.0.2.1', 'www 3600 A 192.0.2.2', 'www A 192.0.2.3']),
  );
  expect(scene.calls).toEqual(['list 1', 'list 2']);
  expect(templates[0]!.differences).toMatchObject([{ action: 'add', outcome: 'skipped' }]);
});

test('what only the first reading and an answer ask for waits', async () => {
  const scene = await openScene(presentTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2']));
  const named = (name: string) => presentTemplate([`#3 ${name} A 192.0.2.3`]).records;
  scene.mishaps.set('list 2', (template) => {
    scene.present = { ...template, records: [...template.records, ...named('api')] };
    return scene.present;
  });
  scene.mishaps.set('update 1', (template) => {
    scene.present = { ...template, records: [...template.records.slice(0, 2), ...named('else')] };
    return scene.present;
  });
  const { templates } = await scene.pass(
    desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.9', 'api A 192.0.2.3']),
  );
  expect(scene.calls).toEqual(['list 1', 'list 2', 'update 1']);
  expect(templates[0]!.differences).toContainEqual(
    expect.objectContaining({ action: 'add', outcome: 'skipped' }),
  );
});
