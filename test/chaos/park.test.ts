import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/report/report.ts';
import { noFault, type Fault } from './fault.ts';
import { address, openPlace, type Place } from './place.ts';
import type { FileRecord } from './template-files.ts';
import type { SeenRequest } from './wire.ts';

const apex = address(null, '203.0.113.1', 3600);
const api = address('api', '203.0.113.2', 3600);
const alias: FileRecord = { ...address('api', 'web.example.net'), type: 'CNAME' };
const park = { surplus: 'park' } as const;

const names = async (place: Place): Promise<readonly string[]> =>
  (await place.records()).map(({ name, type }) => `${name?.replace(/\d+$/, 'ID') ?? '@'} ${type}`).toSorted();

/** The address belongs to the file; now the file has a CNAME instead. */
const openOwning = async (faultOf: (request: SeenRequest) => Fault = () => noFault): Promise<Place> => {
  const place = await openPlace([apex, api], { faultOf });
  await place.write([apex, api], park);
  expect(await place.apply()).toMatchObject({ code: 0, writes: 0 });
  return place;
};

describe('a record is not parked', { timeout: 60_000 }, () => {
  it('while a limit holds the write that needs its name, and the plan says so', async () => {
    const place = await openOwning();
    await place.write([apex, alias], { ...park, limits: { maxAdds: 0 } });
    const { stdout } = await place.run(['plan', '--format', 'json']);
    const planned: Report = JSON.parse(stdout);
    const waiting = {
      action: 'park',
      outcome: 'skipped',
      error: expect.stringContaining('waits for CNAME api'),
    };
    expect(planned.templates[0]?.differences).toMatchObject([waiting, { action: 'add' }]);
    expect(await place.apply()).toMatchObject({ writes: 0 });
    expect(await names(place)).toEqual(['@ A', 'api A']);
    await place.write([apex, alias], park);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 2 });
    expect(await names(place)).toEqual(['@ A', '_parked-ID A', 'api CNAME']);
  });

  it('without a way back if it has no name and the file dropped it', async () => {
    const place = await openOwning();
    const atApex = { ...alias, name: null, allow: ['cname-apex'] };
    await place.write([atApex, api], park);
    expect(await place.apply()).toMatchObject({ writes: 2 });
    expect(await names(place)).toEqual(['@ CNAME', '_parked-ID A', 'api A']);
  });
});

describe('a record that was parked to make way is restored', { timeout: 60_000 }, () => {
  const losing = ({ operation }: SeenRequest): Fault =>
    operation === 'add' ? { commit: 'never', answer: 'drop' } : noFault;

  it('when the write that needed it was refused', async () => {
    const place = await openOwning(({ operation }) =>
      operation === 'add' ? { commit: 'never', answer: 422 } : noFault,
    );
    await place.write([apex, alias], park);
    const { code, writes, report } = await place.apply({ env: { DNS_SYNC_UNKNOWN_PAUSE: '1h' } });
    expect({ code, writes }).toEqual({ code: 1, writes: 3 });
    expect(await names(place)).toEqual(['@ A', 'api A']);
    expect(report.templates[0]?.differences).toMatchObject([
      { action: 'park', outcome: 'failed', error: expect.stringContaining('restored: ') },
      { action: 'add', outcome: 'failed' },
    ]);
  });

  it('once its add can come no more and may not be sent again, and is parked again on request', async () => {
    let kill = (): void => undefined;
    const place = await openOwning((request) => {
      if (request.operation === 'add') kill();
      return losing(request);
    });
    await place.write([apex, alias], park);
    const daemon = place.start(['run', '--listen', 'off']);
    kill = () => daemon.kill('SIGKILL');
    await daemon.ended;
    kill = () => undefined;
    expect(await names(place)).toEqual(['@ A', '_parked-ID A']);
    const env = { DNS_SYNC_UNKNOWN_PAUSE: '1h' };
    expect(await place.apply({ env })).toMatchObject({ writes: 0 });
    expect(await names(place)).toEqual(['@ A', '_parked-ID A']);
    const hour = 3_600_000;
    expect(await place.apply({ env, later: 2 * hour })).toMatchObject({ writes: 1 });
    expect(await names(place)).toEqual(['@ A', '_parked-ID A']);
    expect(await place.apply({ env, later: 12 * hour })).toMatchObject({ writes: 1 });
    expect(await names(place)).toEqual(['@ A', 'api A']);
    expect(await place.apply({ env, later: 12 * hour, args: ['--retry', 'web'] })).toMatchObject({
      writes: 2,
    });
  });

  it('and belongs to the file again, so that an edit changes it', async () => {
    const place = await openOwning(({ operation }) =>
      operation === 'add' ? { commit: 'never', answer: 422 } : noFault,
    );
    await place.write([apex, alias], park);
    await place.apply();
    await place.service.change('add-record', {
      dns_template_id: place.templateId,
      ...address('api', '203.0.113.9', 60),
    });
    const elsewhere = address('api', '203.0.113.3', 3600);
    await place.write([apex, elsewhere], park);
    expect(await place.apply()).toMatchObject({ writes: 1 });
    const addresses = (await place.records()).filter(({ name }) => name === 'api');
    expect(addresses.map(({ content }) => content).toSorted()).toEqual(['203.0.113.3', '203.0.113.9']);
  });
});
