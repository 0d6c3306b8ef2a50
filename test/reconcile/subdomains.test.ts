import type { Memory } from '../../src/state/memory.ts';
import { describe, expect, test } from 'vitest';
import { emptyCache } from '../../src/reconcile/cache.ts';
import type { Pass } from '../../src/reconcile/pass.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { derivedFrom, failing, openScene, type Mishap, type Scene } from './pass.ts';

const shop = 'shop.example.net';
const desired = desiredTemplate(['www A 192.0.2.1'], { subdomains: [shop, 'late.example.net'] });

/** Two records, saved as in sync; then the subdomains in a pass with another address of api. */
const opened = async () => {
  const actual = actualTemplate(['#1 www A 192.0.2.1', '#2 api A 192.0.2.2']);
  const scene = await openScene(actual);
  const describing = (api: string) =>
    desiredTemplate(['www A 192.0.2.1', `api A ${api}`], { subdomains: desired.subdomains });
  const statuses = async (api: string, more: Partial<Pass> = {}) => {
    const { templates } = await scene.pass(describing(api), more);
    return templates[0]?.subdomains.map(({ status }) => status);
  };
  await statuses('192.0.2.2');
  return { scene, statuses };
};

/** From now on no subdomain follows the template. */
const lagging = (scene: Scene): void => {
  const before = derivedFrom(scene.actual);
  scene.derived = () => before;
};
/** The subdomain lacks www, whatever else it shows. */
const lackingWww = (scene: Scene, name: string): void => {
  const { derived } = scene;
  scene.derived = (subdomain) => {
    const records = derived(subdomain);
    return subdomain === name ? records.filter(({ name: own }) => own !== 'www') : records;
  };
};

describe('the grace of a subdomain', () => {
  test.each<[string, Mishap]>([
    ['was refused', failing('refused', 422)],
    ['was not sent', failing('not-sent', null)],
    ['was lost', failing('unknown', null)],
  ])('does not start with one that %s', async (_, mishap) => {
    const { scene, statuses } = await opened();
    lackingWww(scene, shop);
    scene.mishaps.set('update 1', mishap);
    expect(await statuses('192.0.2.3')).toEqual(['drifted', 'in-sync']);
    scene.mishaps.clear();
    scene.now += 1_000;
    expect(await statuses('192.0.2.2')).toEqual(['drifted', 'in-sync']);
  });

  test('starts with an update that succeeded before the process died', async () => {
    const { scene, statuses } = await opened();
    lagging(scene);
    const dies: Memory['save'] = (changes) =>
      changes.entries.length > 0 ? Promise.reject(new Error('it died')) : scene.memory.save(changes);
    const dying = { ...scene.memory, save: dies };
    await expect(statuses('192.0.2.3', { memory: dying, writer: dying })).rejects.toThrow('it died');
    scene.now += 1_000;
    expect(await statuses('192.0.2.3')).toEqual(['pending', 'pending']);
  });

  test.each<[string, () => Partial<Pass>]>([
    ['a person asks for', () => ({ trigger: 'command' })],
    ['a daemon makes', () => ({ cache: emptyCache() })],
  ])('does not cover drift from before the write, in passes that %s', async (_, kept) => {
    const { scene, statuses } = await opened();
    const more = kept();
    expect(await statuses('192.0.2.2', more)).toEqual(['in-sync', 'in-sync']);
    expect(await statuses('192.0.2.2', more)).toEqual(['in-sync', 'in-sync']);
    lackingWww(scene, shop);
    expect(await statuses('192.0.2.2', more)).toEqual(['drifted', 'in-sync']);
    lagging(scene);
    lackingWww(scene, shop);
    scene.now += 1_000;
    // One lacks what it lacked before, and both follow late.
    expect(await statuses('192.0.2.3', more)).toEqual(['drifted', 'pending']);
    expect(await statuses('192.0.2.3', more)).toEqual(['drifted', 'pending']);
    // The reported drift is corrected; the drift since the write is not.
    scene.derived = () => derivedFrom(actualTemplate(['#1 www A 192.0.2.1', '#2 api A 192.0.2.2']));
    expect(await statuses('192.0.2.3', more)).toEqual(['pending', 'pending']);
  });
});
