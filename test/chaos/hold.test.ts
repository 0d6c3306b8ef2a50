import { expect, it } from 'vitest';
import { address, openPlace } from './place.ts';
import { theOthers } from './quirks.ts';
import type { WireTemplate } from './wire.ts';

it(
  'leaves changes that only an answer requires to the next pass, whose guards count them',
  { timeout: 60_000 },
  async () => {
    const records = ['a', 'b', 'c', 'd'].map((name) => address(name, '203.0.113.1', 300));
    const place = await openPlace(records, {
      quirk: {
        alsoChanges: theOthers,
      },
    });
    const [first, ...others] = records;
    await place.write([{ ...first!, content: '203.0.113.2' }, ...others, address('new', '203.0.113.3')], {
      limits: { maxAdds: 0, maxChangePercent: 30, minRecords: 1 },
    });
    const { writes, report } = await place.apply();
    expect(writes).toBe(1);
    expect(report.templates[0]).toMatchObject({ status: 'held' });
    const next = await place.apply();
    expect(next.writes).toBe(0);
    expect(next.report.templates[0]).toMatchObject({
      status: 'held',
      message: expect.stringContaining('of 4 records would change'),
    });
  },
);

it('leaves an add that only an answer requires to the next pass', { timeout: 60_000 }, async () => {
  // Somebody moves the record that conflicts with the CNAME while the first add is in flight.
  const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => ({
    ...template,
    dns_template_records: template.dns_template_records.map((record) =>
      where === 'answer' && record.name === 'www' ? { ...record, name: 'old' } : record,
    ),
  });
  const place = await openPlace([address('www', '203.0.113.1'), address('api', '203.0.113.1')], {
    quirk: { show },
  });
  const cname = { ...address('www', 'api.example.net'), type: 'CNAME' };
  await place.write([address('api', '203.0.113.1'), address('new', '203.0.113.1'), cname]);
  const { writes, report } = await place.apply({ env: { DNS_SYNC_MAX_ADDS_PER_PASS: '1' } });
  expect(writes).toBe(1);
  expect(report.templates[0]).toMatchObject({
    status: 'drifted',
    differences: [
      { action: 'add', outcome: 'applied' },
      { action: 'add', desired: { type: 'CNAME' }, outcome: 'skipped' },
      { action: 'surplus' },
    ],
  });
});

it('holds nothing in mode report, for any number of adds', { timeout: 60_000 }, async () => {
  const place = await openPlace([address('a', '203.0.113.1')]);
  await place.write(
    ['a', 'b', 'c'].map((name) => address(name, '203.0.113.1')),
    { mode: 'report' },
  );
  const { writes, report } = await place.apply({ env: { DNS_SYNC_MAX_ADDS_PER_PASS: '1' } });
  expect(writes).toBe(0);
  expect(report.templates[0]).toMatchObject({ status: 'drifted', message: null });
});

it(
  'ends apply with 1 if it did not write everything that it planned, though nothing failed',
  { timeout: 60_000 },
  async () => {
    // Somebody moves www away between the two readings, and only the second one requires another one.
    let listings = 0;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => ({
      ...template,
      dns_template_records: template.dns_template_records.map((record) =>
        record.name === 'www' && (where === 'answer' || listings > 1) ? { ...record, name: 'old' } : record,
      ),
    });
    const actual = [address('www', '203.0.113.1'), address('api', '203.0.113.1')];
    const place = await openPlace(actual, {
      quirk: { show },
      onStage: (stage, { operation }) => {
        if (stage === 'arrived' && operation === 'list') listings += 1;
      },
    });
    await place.write([...actual, address('new', '203.0.113.1')]);
    const { code, writes, report } = await place.apply();
    expect(report.templates[0]).toMatchObject({
      status: 'drifted',
      differences: expect.arrayContaining([
        expect.objectContaining({ action: 'add', desired: expect.objectContaining({ name: 'www' }) }),
      ]),
    });
    expect({ code, writes }).toEqual({ code: 1, writes: 1 });
  },
);

it('ends apply with 0 if only a mode holds an add back', { timeout: 60_000 }, async () => {
  const actual = [address('api', '203.0.113.1')];
  const place = await openPlace(actual);
  await place.write([...actual, address('www', '203.0.113.1')], { mode: 'report' });
  expect(await place.apply()).toMatchObject({ code: 0, writes: 0, report: { summary: { add: 1 } } });
});
