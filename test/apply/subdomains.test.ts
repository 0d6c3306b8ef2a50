import { describe, expect, test } from 'vitest';
import { noRests } from '../../src/apply/rest.ts';
import { desiredTemplate, presentTemplate } from '../plan/records.ts';
import { failing, openScene } from './pass.ts';

const shop = 'shop.example.net';
const wanted = desiredTemplate(['www A 192.0.2.1'], { subdomains: [shop, 'late.example.net'] });

describe('a subdomain that cannot be read', () => {
  test('makes its template failed, and that says which; where nothing else is new as well', async () => {
    const scene = openScene(presentTemplate(['#1 www A 192.0.2.1']));
    const rests = noRests();
    const result = async () => (await scene.pass(wanted, { rests })).templates[0];
    expect(await result()).toMatchObject({ status: 'in-sync' });
    expect(await result()).toMatchObject({ status: 'in-sync', message: null });
    scene.mishaps.set(`records of ${shop} 1`, failing('unavailable', 404));
    const failed = {
      status: 'failed',
      message: `subdomain ${shop} cannot be read`,
      subdomains: [{ subdomain: shop, status: 'failed' }, { status: 'in-sync' }],
    };
    expect(await result()).toMatchObject(failed);
    expect(await result()).toMatchObject(failed);
    expect((await scene.pass(wanted)).templates[0]).toMatchObject(failed);
    scene.mishaps.clear();
    expect(await result()).toMatchObject({ status: 'in-sync', message: null });
  });
});
