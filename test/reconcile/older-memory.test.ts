import { describe, expect, test } from 'vitest';
import type { Pass } from '../../src/reconcile/pass.ts';
import { desiredTemplate, ignoring, presentTemplate } from '../plan/records.ts';
import { failing, openScene } from './pass.ts';

const file = (...more: readonly string[]) =>
  desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2', ...more], { ignore: [ignoring({ name: 'old' })] });

/** A template of which a pass has seen that all is as the file says. */
const known = async () => {
  const scene = await openScene(presentTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2']));
  await scene.pass(file());
  const warnings: string[] = [];
  const pass = (...[desired, more]: readonly [ReturnType<typeof file>, Partial<Pass>?]) =>
    scene.pass(desired, { ...more, warn: (message) => warnings.push(message) });
  return { scene, pass, warnings };
};

const neverSeen = expect.stringContaining('under ids that were never seen');

describe('a wanted record under an id that memory never saw', () => {
  test('makes memory doubtful', async () => {
    const { scene, pass, warnings } = await known();
    scene.present = presentTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#9 mail A 192.0.2.3']);
    await pass(file('mail A 192.0.2.3'));
    expect(warnings).toEqual([neverSeen]);
  });

  test('is expected where an add of it was given up, also of what had been there before', async () => {
    const { scene, pass, warnings } = await known();
    scene.present = presentTemplate(['#1 @ A 192.0.2.1']);
    scene.mishaps.set('add 1', failing('unknown', null));
    await pass(file());
    scene.present = presentTemplate(['#1 @ A 192.0.2.1', '#9 www A 192.0.2.2']);
    const { templates } = await pass(file());
    expect(templates[0]).toMatchObject({ status: 'in-sync' });
    expect(warnings).toEqual([]);
  });
});

test('what the file dropped and nobody changed stays known though memory is in doubt', async () => {
  const { scene, pass, warnings } = await known();
  const named = (name: string) => {
    scene.present = presentTemplate(['#1 @ A 192.0.2.1', `#2 ${name} A 192.0.2.2`]);
    return scene.present;
  };
  scene.present = presentTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.9']);
  scene.mishaps.set('update 1', () => named('www.'));
  await pass(file());
  scene.mishaps.clear();
  scene.present = presentTemplate(['#1 @ A 192.0.2.1', '#2 www. A 192.0.2.2', '#9 mail A 192.0.2.3']);
  await pass(desiredTemplate(['@ A 192.0.2.1', 'mail A 192.0.2.3']));
  expect(warnings).toEqual([neverSeen]);
  scene.calls.length = 0;
  await pass(file('mail A 192.0.2.3'));
  expect(scene.calls).not.toContain('add 1');
});

test('beside what stood for a record and is something else now nothing is added, though memory is in doubt', async () => {
  const { scene, pass, warnings } = await known();
  scene.present = presentTemplate(['#1 @ A 192.0.2.1', '#2 old A 192.0.2.2', '#9 mail A 192.0.2.3']);
  await pass(file('mail A 192.0.2.3'));
  expect(warnings).toEqual([neverSeen]);
  scene.calls.length = 0;
  const { templates } = await pass(file('mail A 192.0.2.3'), { trigger: 'command', retry: true });
  expect(templates[0]?.differences).toMatchObject([
    { action: 'blocked', reason: 'not-converging', recordId: 2 },
  ]);
  expect(scene.calls).not.toContain('add 1');
});
