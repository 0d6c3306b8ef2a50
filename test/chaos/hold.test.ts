import { expect, it } from 'vitest';
import { address, openPlace } from './place.ts';
import type { WireTemplate } from './wire.ts';

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
