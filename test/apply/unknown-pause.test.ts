import { expect, test } from 'vitest';
import { desiredTemplate, presentTemplate } from '../plan/records.ts';
import { failing, openScene } from './pass.ts';

const minute = 60_000;

test.each([1_000, 30_000, minute, 5 * minute, 24 * 60 * minute])(
  'an add that was found in no reading is tried again after the pause that is set, no sooner and no later: %i ms',
  async (unknownPause) => {
    const scene = await openScene(presentTemplate(['#1 @ A 192.0.2.1']));
    const pass = () => scene.pass(desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2']), { unknownPause });
    scene.mishaps.set('add 1', failing('unknown', null));
    const until = scene.now + unknownPause;
    expect((await pass()).templates[0]?.differences).toMatchObject([
      { outcome: 'failed', retryAt: new Date(until).toISOString() },
    ]);
    scene.mishaps.clear();
    scene.now = until - 1;
    expect((await pass()).templates[0]?.differences).toMatchObject([
      { action: 'blocked', reason: 'pending-write', retryAt: new Date(until).toISOString() },
    ]);
    scene.now = until;
    expect((await pass()).templates[0]?.differences).toMatchObject([{ outcome: 'applied' }]);
  },
);
