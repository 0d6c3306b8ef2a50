import { describe, expect, it } from 'vitest';
import { noFault, type Fault } from './fault.ts';
import type { Stage } from './faulty-service.ts';
import { address, openPlace, type Place } from './place.ts';
import { isWrite, type SeenRequest, type WireTemplate } from './wire.ts';

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

  it('is accepted when two passes agree', async () => {
    const { place } = await openLosing(loss);
    const lost = await removeLost(place, loss);
    await expectHeld(place);
    const believed = await place.apply();
    expect(believed).toMatchObject({ code: 0, writes: lost });
    expect(await place.apply()).toMatchObject({ code: 0, writes: 0, report: { status: 'in-sync' } });
    expect(await place.records()).toHaveLength(8);
  });

  it('is reported by plan, which does not confirm it', async () => {
    const { place, lose } = await openLosing(loss);
    lose();
    const plan = async () => place.run(['plan', '--detailed-exitcode']);
    expect(await plan()).toMatchObject({ code: 2, stdout: expect.stringMatching(reason) });
    expect(await plan()).toMatchObject({ code: 2, stdout: expect.stringMatching(reason) });
    await expectHeld(place);
  });

  it('is in the log of the daemon', async () => {
    const { place, lose } = await openLosing(loss);
    lose();
    const daemon = place.start(['run', '--listen', 'off']);
    const drift = daemon.line(({ event }) => event === 'drift.report');
    const finished = daemon.line(({ event }) => event === 'pass.finished');
    expect(await drift).toMatchObject({
      level: 'warn',
      status: 'held',
      message: expect.stringMatching(reason),
    });
    expect(await finished).toMatchObject({ level: 'warn', status: 'held' });
    daemon.kill('SIGTERM');
    await daemon.ended;
    expect(place.service.witness.writes).toEqual([]);
  });

  it('is accepted at once when a person confirms it', async () => {
    const { place } = await openLosing(loss);
    const lost = await removeLost(place, loss);
    await expectHeld(place);
    expect(await place.apply({ args: ['web', '--accept-loss'] })).toMatchObject({ code: 0, writes: lost });
  });
});

describe('a record on which file and service never agreed', { timeout: 60_000 }, () => {
  const web = (content: string) => address('www', content);

  it('is not added again if one listing lacks it', async () => {
    let hides = 0;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (template.name !== 'web' || where === 'answer' || hides === 0) return template;
      hides -= 1;
      const isShown = ({ name }: { name: string | null }): boolean => name !== 'www';
      return { ...template, dns_template_records: template.dns_template_records.filter(isShown) };
    };
    let isRefused = true;
    const faultOf = (request: SeenRequest): Fault =>
      isRefused && isWrite(request) ? { commit: 'never', answer: 422 } : noFault;
    const place = await openPlace([...records, web('203.0.113.90')], { faultOf, quirk: { show } });
    await place.write([...records, web('203.0.113.91')]);
    expect(await place.apply()).toMatchObject({ code: 1, writes: 1 });
    isRefused = false;
    hides = 1;
    await place.apply();
    await place.apply();
    const contents = (await place.records()).map(({ content }) => content);
    expect(contents).toEqual([...records.map(({ content }) => content), '203.0.113.91']);
  });

  it('costs a second reading once if it is missing', async () => {
    let listings = 0;
    const onStage = (stage: Stage, request: SeenRequest): void => {
      if (stage === 'arrived' && !isWrite(request)) listings += 1;
    };
    const place = await openPlace([...records, web('203.0.113.90')], { onStage });
    await place.write(records);
    await place.apply();
    const other = (await place.records()).find(({ name }) => name === 'www')!;
    await place.service.change('remove-record', { record_id: other.id });
    const readings: number[] = [];
    for (const count of [1, 2]) {
      const more = Array.from({ length: count }, (_, index) => address(`more${index}`, '203.0.113.99'));
      await place.write([...records, ...more]);
      const before = listings;
      expect(await place.apply()).toMatchObject({ code: 0, writes: 1 });
      readings.push(listings - before);
    }
    expect(readings).toEqual([2, 1]);
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
