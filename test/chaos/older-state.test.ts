import { cpSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { address, openPlace, type Place } from './place.ts';

const root = address(null, '203.0.113.1');
const www = (last: number) => address('www', `203.0.113.${last}`);
const api = address('api', '203.0.113.2');

const backUp = ({ stateDir }: Place): void => cpSync(stateDir, `${stateDir}.backup`, { recursive: true });

const restore = ({ stateDir }: Place): void => {
  rmSync(stateDir, { recursive: true });
  cpSync(`${stateDir}.backup`, stateDir, { recursive: true });
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
});
