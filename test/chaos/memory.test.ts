import { expect, it } from 'vitest';
import { noFault, type Fault } from './fault.ts';
import { address, openPlace } from './place.ts';
import type { FileRecord } from './template-files.ts';
import type { SeenRequest, WireTemplate } from './wire.ts';

const text = (content: string): FileRecord => ({
  type: 'TXT',
  name: null,
  content,
  priority: null,
  ttl: null,
});

it(
  'knows a record that was dropped, not yet listed and restored, and adds no second one',
  { timeout: 60_000 },
  async () => {
    /** How many listings are still behind. */
    let behind = 0;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (where === 'answer' || template.name !== 'web' || behind === 0) return template;
      behind -= 1;
      const isOld = ({ name }: { name: string | null }): boolean => name !== 'www';
      return { ...template, dns_template_records: template.dns_template_records.filter(isOld) };
    };
    const present = [address(null, '203.0.113.1'), address('api', '203.0.113.1')];
    const place = await openPlace(present, { quirk: { show } });
    await place.write([...present, address('www', '203.0.113.1')]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 1 });

    behind = 1;
    await place.write(present);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 0 });
    behind = 1;
    await place.write([...present, address('www', '203.0.113.1')]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 0, report: { status: 'in-sync' } });
    expect(behind).toBe(0);
  },
);

it(
  'changes a record that was edited while one listing lacked it, and adds none beside it',
  { timeout: 60_000 },
  async () => {
    let isBehind = false;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (where === 'answer' || template.name !== 'web' || !isBehind) return template;
      isBehind = false;
      const isOld = ({ name }: { name: string | null }): boolean => name !== 'www';
      return { ...template, dns_template_records: template.dns_template_records.filter(isOld) };
    };
    const api = address('api', '203.0.113.1');
    const place = await openPlace([api, address('www', '203.0.113.1')], { quirk: { show } });
    await place.write([api, address('www', '203.0.113.1')]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 0 });

    isBehind = true;
    await place.write([api, address('www', '203.0.113.2')]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 1, report: { status: 'in-sync' } });
    expect(isBehind).toBe(false);
    expect(await place.records()).toMatchObject([{ name: 'api' }, { name: 'www', content: '203.0.113.2' }]);
  },
);

it(
  'knows the record that a change of unknown outcome went to, whatever name it has now, and adds no second one',
  { timeout: 60_000 },
  async () => {
    let isLost = true;
    const faultOf = ({ operation }: SeenRequest): Fault =>
      isLost && operation === 'update' ? { commit: 'now', answer: 'reset' } : noFault;
    const store = ({ operation }: SeenRequest): Record<string, string> =>
      operation === 'update' ? { name: 'www.##DOMAIN##' } : {};
    const place = await openPlace([address('www', '203.0.113.1')], { faultOf, quirk: { store } });
    await place.write([address('www', '203.0.113.2')]);
    expect(await place.apply()).toMatchObject({ code: 1, writes: 1 });
    isLost = false;
    expect((await place.apply()).report.templates[0]?.differences).not.toEqual(
      expect.arrayContaining([expect.objectContaining({ action: 'add' })]),
    );
    expect(await place.records()).toMatchObject([{ content: '203.0.113.2' }]);
  },
);

it(
  'calls a text drifted, not edited, that somebody made another one of the file’s',
  { timeout: 60_000 },
  async () => {
    const place = await openPlace([text('token=one')]);
    await place.write([text('token=one'), text('v=spf1 mx -all')], { mode: 'edits' });
    expect(await place.apply()).toMatchObject({ writes: 0 });
    const [record] = await place.records();
    await place.service.change('edit-record', { record_id: record?.id, content: 'v=spf1 mx -all' });
    expect(await place.apply()).toMatchObject({ writes: 0 });
    const last = await place.apply();
    expect(last.writes).toBe(0);
    expect(last.report.templates[0]?.differences).toMatchObject([
      { action: 'add', desired: { content: 'token=one' }, cause: 'drifted', outcome: 'skipped' },
    ]);
  },
);
