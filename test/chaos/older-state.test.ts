import { cpSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { address, openPlace, type Place } from './place.ts';

const root = address(null, '203.0.113.1');
const www = (last: number) => address('www', `203.0.113.${last}`);
const api = address('api', '203.0.113.2');
const shop = address('shop', '203.0.113.3');

const backUp = ({ stateDir }: Place): void => cpSync(stateDir, `${stateDir}.backup`, { recursive: true });

const restore = ({ stateDir }: Place): void => {
  rmSync(stateDir, { recursive: true });
  cpSync(`${stateDir}.backup`, stateDir, { recursive: true });
};

const remove = async (place: Place, name: string): Promise<void> => {
  const record = (await place.records()).find((one) => one.name === name);
  await place.service.change('remove-record', { record_id: record?.id });
};

const neverSeen = /web: records of the file have ids that the saved state does not know \(#\d+\).*older copy/;

describe('an older copy of the state that was restored', { timeout: 60_000 }, () => {
  it('is noticed: differences have an unknown cause, and mode: edits overwrites none of them', async () => {
    const place = await openPlace([root, www(1)]);
    await place.write([root, www(1)]);
    await place.apply();
    backUp(place);
    await place.write([root, www(2), api]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 2 });
    const record = (await place.records()).find(({ name }) => name === 'www');
    await place.service.change('edit-record', { record_id: record?.id, content: '203.0.113.9' });
    restore(place);

    await place.write([root, www(2), api], { mode: 'edits' });
    const planned = await place.run(['plan', '--format', 'json']);
    expect(planned.stderr).toMatch(neverSeen);
    expect(JSON.parse(planned.stdout).templates[0].differences).toMatchObject([{ cause: 'unknown' }]);
    const first = await place.apply();
    expect(first.stderr).toMatch(neverSeen);
    const second = await place.apply();
    expect(second.stderr).toBe('');
    for (const { writes, report } of [first, second]) {
      expect(writes).toBe(0);
      expect(report.templates[0]?.differences).toMatchObject([
        { action: 'update', cause: 'unknown', outcome: 'skipped', current: { content: '203.0.113.9' } },
      ]);
    }
    // An edit is recognised again.
    await place.write([root, www(4), api], { mode: 'edits' });
    expect((await place.apply()).report.templates[0]?.differences).toMatchObject([
      { action: 'update', cause: 'edited', outcome: 'applied' },
    ]);
  });

  it('is noticed: a missing record that was added before waits for a person', async () => {
    const place = await openPlace([root]);
    await place.write([root, api]);
    expect(await place.apply()).toMatchObject({ writes: 1 });
    expect(await place.apply()).toMatchObject({ writes: 0 });
    backUp(place);
    await remove(place, 'api');
    await place.write([root, api, shop]);
    const later = { later: 3_600_000 };
    expect(await place.apply(later)).toMatchObject({ writes: 2 });
    restore(place);
    await remove(place, 'api');
    for (let pass = 0; pass < 3; pass += 1) {
      const { writes, report } = await place.apply(later);
      expect(writes).toBe(0);
      expect(report.templates[0]?.differences).toMatchObject([
        { action: 'blocked', reason: 'vanished', message: expect.stringContaining('older copy') },
      ]);
    }
    expect(await place.apply({ ...later, args: ['--retry', 'web'] })).toMatchObject({ code: 0, writes: 1 });
  });

  it('is not suspected when the file lists a record that was seen before', async () => {
    const place = await openPlace([root]);
    await place.write([root]);
    await place.apply();
    await place.service.change('add-record', { dns_template_id: place.templateId, ...shop, ttl: 300 });
    await place.apply();
    await place.write([root, shop]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 0, stderr: '' });
  });

  it('is not suspected when an abandoned add takes effect late', async () => {
    let adds = 0;
    const place = await openPlace([root], {
      faultOf: ({ operation }) => {
        if (operation !== 'add') return { commit: 'now', answer: 'truth' };
        adds += 1;
        return adds === 1 ? { commit: 3, answer: 'drop' } : { commit: 'now', answer: 'truth' };
      },
    });
    await place.write([root]);
    await place.apply();
    await place.write([root, api]);
    await place.apply();
    for (let pass = 0; pass < 3; pass += 1) expect((await place.apply()).stderr).toBe('');
    expect((await place.records()).filter(({ name }) => name === 'api')).not.toEqual([]);
  });
});
