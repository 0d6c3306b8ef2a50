import { describe, expect, it } from 'vitest';
import { address, openPlace, type Place } from './place.ts';
import type { WireTemplate } from './wire.ts';

const records = Array.from({ length: 8 }, (_, index) => address(`host${index}`, `203.0.113.${index + 1}`));

const losses: Readonly<Record<string, (template: WireTemplate) => WireTemplate>> = {
  empty: (template) => ({ ...template, dns_template_records: [] }),
  half: (template) => ({
    ...template,
    dns_template_records: template.dns_template_records.filter(({ id }) => id % 2 === 0),
  }),
};

/** Everything is in sync and saved; from `lose()` on the listings lack records, until `find()`. */
const openLosing = async (loss: (template: WireTemplate) => WireTemplate) => {
  let isLost = false;
  const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate =>
    isLost && where === 'listing' && template.name === 'web' ? loss(template) : template;
  const place = await openPlace(records, { quirk: { show } });
  await place.write(records);
  expect(await place.apply()).toMatchObject({ code: 0, writes: 0 });
  return { place, lose: () => (isLost = true), find: () => (isLost = false) };
};

const reason = /[48] of 8 known records are missing at the service/;

/** In report and exit code. */
const expectHeld = async (place: Place): Promise<void> => {
  const held = await place.apply();
  expect(held).toMatchObject({ code: 1, writes: 0 });
  expect(held.report.status).toBe('held');
  expect(held.report.templates).toMatchObject([{ status: 'held', message: expect.stringMatching(reason) }]);
  const adds = held.report.templates[0]?.differences ?? [];
  expect(adds.length).toBeGreaterThan(0);
  for (const add of adds)
    expect(add).toMatchObject({ action: 'add', outcome: 'skipped', error: expect.stringMatching(reason) });
};

describe.each(Object.entries(losses))('a listing that is suddenly %s', { timeout: 60_000 }, (_, loss) => {
  it('holds the template, and is forgotten when the next listing is complete', async () => {
    const { place, lose, find } = await openLosing(loss);
    lose();
    await expectHeld(place);
    find();
    const whole = await place.apply();
    expect(whole).toMatchObject({ code: 0, writes: 0, report: { status: 'in-sync' } });
    lose();
    await expectHeld(place);
  });

  it('is reported by plan, which does not confirm it', async () => {
    const { place, lose } = await openLosing(loss);
    lose();
    const plan = async () => place.run(['plan', '--detailed-exitcode']);
    expect(await plan()).toMatchObject({ code: 2, stdout: expect.stringMatching(reason) });
    expect(await plan()).toMatchObject({ code: 2, stdout: expect.stringMatching(reason) });
    await expectHeld(place);
  });

  it('is accepted at once when a person confirms it', async () => {
    const { place } = await openLosing(loss);
    const lost = await removeLost(place, loss);
    await expectHeld(place);
    expect(await place.apply({ args: ['web', '--accept-loss'] })).toMatchObject({ code: 0, writes: lost });
  });
});

/** Removes the records that a listing would lack. Resolves to their number. */
const removeLost = async (place: Place, loss: (template: WireTemplate) => WireTemplate): Promise<number> => {
  const template = (await place.service.templates()).find(({ id }) => id === place.templateId)!;
  const kept = new Set(loss(template).dns_template_records.map(({ id }) => id));
  const lost = template.dns_template_records.filter(({ id }) => !kept.has(id));
  for (const { id } of lost) await place.service.change('remove-record', { record_id: id });
  return lost.length;
};
