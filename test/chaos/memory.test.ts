import { expect, it } from 'vitest';
import { noFault, type Fault } from './fault.ts';
import { address, openPlace } from './place.ts';
import { theOthers } from './quirks.ts';
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
  'recognises a record that was dropped and restored while not yet listed, and adds no second one',
  { timeout: 60_000 },
  async () => {
    /** How many listings are still out of date. */
    let behind = 0;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (where === 'answer' || template.name !== 'web' || behind === 0) return template;
      behind -= 1;
      const isOld = ({ name }: { name: string | null }): boolean => name !== 'www';
      return { ...template, dns_template_records: template.dns_template_records.filter(isOld) };
    };
    const actual = [address(null, '203.0.113.1'), address('api', '203.0.113.1')];
    const place = await openPlace(actual, { quirk: { show } });
    await place.write([...actual, address('www', '203.0.113.1')]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 1 });

    behind = 1;
    await place.write(actual);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 0 });
    behind = 1;
    await place.write([...actual, address('www', '203.0.113.1')]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 0, report: { status: 'in-sync' } });
    expect(behind).toBe(0);
  },
);

it(
  'changes a record that was edited while one listing lacked it, and adds no other',
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
    // One reading requires an add, the other an update.
    expect(await place.apply()).toMatchObject({ code: 1, writes: 0, report: { status: 'drifted' } });
    expect(isBehind).toBe(false);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 1, report: { status: 'in-sync' } });
    expect(await place.records()).toMatchObject([{ name: 'api' }, { name: 'www', content: '203.0.113.2' }]);
  },
);

it(
  'recognises the record of an update of unknown outcome under any name, and adds no second one',
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
  'reports a text as drifted, not edited, if somebody changed it into another text of the file',
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

it(
  'does not own a record because of an update of unknown outcome that the record does not show',
  { timeout: 60_000 },
  async () => {
    let isLost = true;
    const faultOf = ({ operation }: SeenRequest): Fault =>
      isLost && operation === 'update' ? { commit: 'never', answer: 'reset' } : noFault;
    const place = await openPlace([address('www', '203.0.113.1'), address('api', '203.0.113.1')], {
      faultOf,
    });
    const api = address('api', '203.0.113.1');
    await place.write([api, address('www', '203.0.113.2')], { surplus: 'park' });
    expect(await place.apply()).toMatchObject({ code: 1, writes: 1 });
    isLost = false;
    await place.write([api], { surplus: 'park' });
    const { writes, report } = await place.apply();
    expect(writes).toBe(0);
    expect(report.templates[0]?.differences).toMatchObject([
      { action: 'surplus', current: { name: 'www', content: '203.0.113.1' }, cause: 'unknown' },
    ]);
  },
);

it(
  'recognises a renamed record while a foreign copy replaces it, and adds none when the copy is removed',
  { timeout: 60_000 },
  async () => {
    const store = ({ operation }: SeenRequest): Record<string, string> =>
      operation === 'add' ? { name: 'www.##DOMAIN##' } : {};
    const api = address('api', '203.0.113.1');
    const place = await openPlace([api], { quirk: { store } });
    await place.write([api, address('www', '203.0.113.2')]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 1, report: { status: 'drifted' } });
    await place.service.change('add-record', {
      dns_template_id: place.templateId,
      ...address('www', '203.0.113.2', 3600),
    });
    expect(await place.apply()).toMatchObject({ writes: 0 });
    const copy = (await place.records()).find(({ name }) => name === 'www');
    await place.service.change('remove-record', { record_id: copy?.id });
    const { writes, report } = await place.apply();
    expect(writes).toBe(0);
    expect(report.templates[0]?.differences).toMatchObject([
      { action: 'blocked', reason: 'not-converging', desired: { name: 'www' } },
    ]);
  },
);

it(
  'recognises each record that its adds made under another name, and adds none when one is removed',
  { timeout: 60_000 },
  async () => {
    const store = ({ operation }: SeenRequest): Record<string, string> =>
      operation === 'add' ? { name: 'www.##DOMAIN##' } : {};
    let isBehind = false;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (where === 'answer' || template.name !== 'web' || !isBehind) return template;
      const isOld = ({ name }: { name: string | null }): boolean => name !== 'www.##DOMAIN##';
      return { ...template, dns_template_records: template.dns_template_records.filter(isOld) };
    };
    const faultOf = ({ operation }: SeenRequest): Fault => {
      if (operation !== 'add' || !isBehind) return noFault;
      isBehind = false;
      return { commit: 'now', answer: 'drop' };
    };
    const api = address('api', '203.0.113.1');
    const place = await openPlace([api], { faultOf, quirk: { show, store } });
    await place.write([api, address('www', '203.0.113.2')]);
    expect(await place.apply()).toMatchObject({ writes: 1 });
    expect(await place.apply()).toMatchObject({ writes: 0 });
    // Old listings make it seem lost, until another one has been added and both are shown.
    isBehind = true;
    const [later, muchLater] = [{ later: 3_600_000 }, { later: 7_200_000 }];
    expect(await place.apply(later)).toMatchObject({ writes: 1 });
    const records = async () => (await place.records()).filter(({ content }) => content === '203.0.113.2');
    const [first, second] = await records();
    expect(second).toBeDefined();

    await place.service.change('remove-record', { record_id: first?.id });
    const { writes, report } = await place.apply(muchLater);
    expect(writes).toBe(0);
    expect(report.templates[0]?.differences).toMatchObject([
      { action: 'blocked', reason: 'not-converging', recordId: second?.id },
      { action: 'surplus', recordId: second?.id },
    ]);
    expect(await place.apply(muchLater)).toMatchObject({ writes: 0 });
    expect(await place.apply({ ...muchLater, args: ['--retry', 'web'] })).toMatchObject({ writes: 1 });
  },
);

it(
  'does not take a known record for the result of an add of unknown outcome',
  { timeout: 60_000 },
  async () => {
    let listings = Number.POSITIVE_INFINITY;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (where === 'answer' || template.name !== 'web') return template;
      listings += 1;
      const shown = listings > 2 ? ['203.0.113.9'] : [];
      const isShown = ({ content }: { content: string }): boolean =>
        listings === Number.POSITIVE_INFINITY || shown.includes(content);
      return { ...template, dns_template_records: template.dns_template_records.filter(isShown) };
    };
    const faultOf = ({ operation }: SeenRequest): Fault =>
      operation === 'add' ? { commit: 'never', answer: 'drop' } : noFault;
    const actual = [address('www', '203.0.113.1'), address('www', '203.0.113.9')];
    const place = await openPlace(actual, { faultOf, quirk: { show } });
    await place.write([address('www', '203.0.113.1')]);
    expect(await place.apply()).toMatchObject({ writes: 0 });
    listings = 0;
    const { writes, report } = await place.apply();
    expect(writes).toBe(1);
    expect(report.templates[0]?.differences[0]).toMatchObject({ action: 'add', outcome: 'failed' });
  },
);

it.each([
  ['the last one', ['refused']],
  ['not the last one', ['refused', 'refused.too']],
] as const)(
  'adds nothing where a reading that was made for another template shows more than its own did: %s',
  { timeout: 60_000 },
  async (_, names) => {
    let [isBehind, listings] = [true, 0];
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (where === 'listing' && template.name === 'web') listings += 1;
      if (where === 'answer' || template.name !== 'zone' || !isBehind) return template;
      // That reading lacks records of the others.
      const isShown = ({ name }: { name: string | null }): boolean => (name === 'www') === (listings === 3);
      return { ...template, dns_template_records: template.dns_template_records.filter(isShown) };
    };
    const refuses = ({ parameters }: SeenRequest): boolean =>
      parameters['name']?.startsWith('refused') === true;
    const place = await openPlace([], { quirk: { show, refuses } });
    const zone = await place.service.change('add-template', {
      name: 'zone',
      records: [address('api', '203.0.113.1', 300), address('www', '203.0.113.1', 300)],
    });
    await place.write(names.map((name) => address(name, '203.0.113.1')));
    const both = [address('api', '203.0.113.1'), address('www', '203.0.113.1')];
    await place.write(both, { template: 'zone' });
    const { report } = await place.apply({ env: { DNS_SYNC_CONCURRENCY: '1' } });
    expect(report.templates[1]).toMatchObject({
      template: 'zone',
      message: 'another listing shows 1 record that this one did not',
      differences: [{ action: 'add', outcome: 'skipped' }],
    });
    const after = await place.service.templates();
    expect(after.find(({ id }) => id === zone.id)?.dns_template_records).toHaveLength(2);
    isBehind = false;
    expect((await place.apply()).report.templates[1]).toMatchObject({ template: 'zone', status: 'in-sync' });
  },
);

it(
  'recognises the record of an update during which the process died, and adds no second one',
  { timeout: 60_000 },
  async () => {
    let dies = (): void => undefined;
    const onStage = (stage: string, { operation }: SeenRequest): void => {
      if (stage === 'stored' && operation === 'update') dies();
    };
    const store = ({ operation }: SeenRequest): Record<string, string> =>
      operation === 'update' ? { name: 'www.##DOMAIN##' } : {};
    const place = await openPlace([address('www', '203.0.113.1')], { onStage, quirk: { store } });
    await place.write([address('www', '203.0.113.2')]);
    const program = place.start(['apply', '--yes']);
    dies = () => {
      dies = () => undefined;
      program.kill('SIGKILL');
    };
    expect(await program.ended).toMatchObject({ code: null });
    const planned = await place.run(['plan', '--format', 'json']);
    expect(JSON.parse(planned.stdout)).toMatchObject({
      templates: [{ differences: [{ action: 'update', desired: { name: 'www' } }] }],
    });
    await place.apply();
    expect(await place.records()).toMatchObject([{ content: '203.0.113.2' }]);
  },
);

it('does not report in sync after a park that did not stay', { timeout: 60_000 }, async () => {
  const desired = address('www', '203.0.113.1', 300);
  const place = await openPlace([desired, address('www', '203.0.113.2', 300)], {
    quirk: {
      ignores: ['name'],
      alsoChanges: theOthers,
    },
  });
  await place.write([desired], { surplus: 'park', adopt: true });
  const { report } = await place.apply({ args: ['--force', 'web'] });
  expect(report.templates[0]).toMatchObject({
    status: 'failed',
    differences: [
      { action: 'park', outcome: 'failed' },
      { action: 'update', outcome: 'skipped', fields: ['ttl'] },
    ],
  });
});

it(
  'recognises a renamed record after an old listing showed it unchanged, and adds no other',
  { timeout: 60_000 },
  async () => {
    let isOld = false;
    let old: WireTemplate | null = null;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (where === 'answer' || template.name !== 'web') return template;
      old ??= template;
      return isOld ? old : template;
    };
    const store = ({ operation }: SeenRequest): Record<string, string> =>
      operation === 'add' ? { name: 'www.##DOMAIN##' } : {};
    const desired = [address('www', '203.0.113.1'), address('api', '203.0.113.1')];
    const place = await openPlace(desired, { quirk: { show, store } });
    await place.write(desired);
    expect(await place.apply()).toMatchObject({ writes: 0 });
    const [www] = await place.records();
    await place.service.change('remove-record', { record_id: www?.id });
    expect(await place.apply()).toMatchObject({ writes: 1 });
    isOld = true;
    expect(await place.apply()).toMatchObject({ writes: 0 });
    isOld = false;
    expect(await place.apply()).toMatchObject({ writes: 0 });
  },
);

it(
  'recognises the late record of its add that somebody has moved since, and adds no second one',
  { timeout: 60_000 },
  async () => {
    const faultOf = ({ operation }: SeenRequest): Fault =>
      operation === 'add' ? { commit: 3, answer: 'drop' } : noFault;
    const records = [address('www', '203.0.113.1'), address('api', '203.0.113.1')];
    const place = await openPlace(records, { faultOf });
    await place.write(records);
    expect(await place.apply()).toMatchObject({ writes: 0 });
    const idOf = async (name: string) => (await place.records()).find((one) => one.name === name)?.id;
    await place.service.change('remove-record', { record_id: await idOf('www') });
    expect(await place.apply()).toMatchObject({ code: 1, writes: 1 });
    expect(await place.apply()).toMatchObject({ writes: 0, report: { status: 'in-sync' } });
    await place.service.change('edit-record', { record_id: await idOf('www'), name: 'moved' });
    const { writes, report } = await place.apply();
    expect(writes).toBe(1);
    expect(report.templates[0]?.differences).toMatchObject([{ action: 'update', fields: ['name'] }]);
    expect(await place.records()).toHaveLength(2);
  },
);

it('keeps the first cause of a missing record that is not added yet', { timeout: 60_000 }, async () => {
  let meddle = (): void => undefined;
  const faultOf = ({ operation }: SeenRequest): Fault => {
    if (operation !== 'add') return noFault;
    meddle();
    return { commit: 'now', answer: 'drop' };
  };
  const [api, one, two] = [
    address('api', '203.0.113.1'),
    address('www', '203.0.113.1'),
    address('www', '203.0.113.2'),
  ];
  const place = await openPlace([api], { faultOf });
  // Somebody removes another record at the same time, so that no reading is trusted.
  let others: Promise<unknown> = Promise.resolve();
  const [first] = await place.records();
  meddle = () => {
    others = place.service.change('remove-record', { record_id: first?.id });
  };
  await place.write([api, one, two], { mode: 'edits' });
  const forced = await place.apply({ args: ['--force', 'web'] });
  await others;
  expect(forced.writes).toBe(1);
  expect(forced.report.templates[0]?.differences).toMatchObject([
    { action: 'add', outcome: 'unknown' },
    { action: 'blocked', reason: 'pending-write', desired: { content: '203.0.113.2' } },
  ]);

  const { writes, report } = await place.apply();
  expect(writes).toBe(0);
  expect(report.templates[0]?.differences).toContainEqual(
    expect.objectContaining({
      action: 'add',
      cause: 'unknown',
      desired: expect.objectContaining({ name: 'www', content: '203.0.113.2' }),
    }),
  );
});

it.each([['another'], ['its']])(
  'does not take another text in its answer for its own, at %s name',
  { timeout: 60_000 },
  async (whose) => {
    let listings = 0;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (template.name !== 'web') return template;
      if (where === 'listing') listings += 1;
      const isHidden = ({ content }: { content: string }): boolean =>
        where === 'answer' ? content === 'hello' : listings < 3 && content === 'v=spf1 -all';
      const records = template.dns_template_records.filter((one) => !isHidden(one));
      return { ...template, dns_template_records: records };
    };
    const api = address('api', '203.0.113.1');
    const place = await openPlace([api, text('v=spf1 -all')], { quirk: { show } });
    await place.write([api, { ...text('hello'), name: whose === 'its' ? null : 'www' }]);
    const { writes, report } = await place.apply();
    expect(writes).toBe(1);
    const spf = { action: 'surplus', current: expect.objectContaining({ content: 'v=spf1 -all' }) };
    expect(report.templates[0]?.differences).toMatchObject([{ action: 'add', outcome: 'applied' }, spf]);
    const again = await place.apply({ args: ['--retry', 'web'] });
    expect(again).toMatchObject({ writes: 0 });
    expect(again.report.templates[0]?.differences).toMatchObject([spf]);
  },
);

it(
  'does not take a record that equals another desired one for the result of a lost add',
  { timeout: 60_000 },
  async () => {
    let listings = 0;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (where === 'answer' || template.name !== 'web') return template;
      listings += 1;
      const isShown = ({ name }: { name: string | null }): boolean => listings > 2 || name !== 'www';
      return { ...template, dns_template_records: template.dns_template_records.filter(isShown) };
    };
    const faultOf = ({ operation }: SeenRequest): Fault =>
      operation === 'add' ? { commit: 'never', answer: 'drop' } : noFault;
    const [api, lost, there] = [
      address('api', '203.0.113.1'),
      address('www', '203.0.113.1'),
      address('www', '203.0.113.2'),
    ];
    const place = await openPlace([api, there], { faultOf, quirk: { show } });
    await place.write([api, lost, there]);
    const { writes, report } = await place.apply();
    expect(writes).toBe(1);
    expect(report.templates[0]).toMatchObject({
      inSync: 2,
      differences: [{ action: 'add', outcome: 'failed', desired: { content: '203.0.113.1' } }],
    });
  },
);

it(
  'reads twice before it adds a record that seemed to have changed into another',
  { timeout: 60_000 },
  async () => {
    let old: WireTemplate | undefined;
    let behind = 0;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (where === 'answer' || template.name !== 'web') return template;
      old ??= template;
      behind -= 1;
      return behind >= 0 ? old : template;
    };
    const [hello, spf] = [text('say hello'), text('v=spf1 -all')];
    const place = await openPlace([hello], { quirk: { show } });
    await place.write([hello]);
    expect(await place.apply()).toMatchObject({ writes: 0 });
    await place.write([spf]);
    expect(await place.apply()).toMatchObject({ writes: 1 });
    // Both are desired, and an old listing shows one as it was: the other seems to be missing.
    await place.write([hello, spf]);
    for (const turn of [1, 2]) {
      behind = 1;
      expect((await place.apply()).writes, `${turn}`).toBe(0);
    }
    expect(await place.records()).toMatchObject([{ content: 'v=spf1 -all' }]);
  },
);

it('adds no record that an answer shows and no listing does', { timeout: 60_000 }, async () => {
  let isBehind = false;
  const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
    if (where === 'answer' || template.name !== 'web' || !isBehind) return template;
    const isOld = ({ name }: { name: string | null }): boolean => name !== 'www';
    return { ...template, dns_template_records: template.dns_template_records.filter(isOld) };
  };
  const [api, www] = [address('api', '203.0.113.1'), address('www', '203.0.113.2')];
  const place = await openPlace([api, www], { quirk: { show } });
  await place.write([api, www]);
  expect(await place.apply()).toMatchObject({ writes: 0 });
  isBehind = true;
  await place.write([address('api', '203.0.113.9'), www]);
  const { writes, report } = await place.apply();
  expect(writes).toBe(1);
  expect(report.templates[0]).toMatchObject({
    status: 'failed',
    differences: [
      { action: 'update', outcome: 'unknown', error: 'the answer has 1 unexpected record' },
      { action: 'add', outcome: 'skipped' },
    ],
  });
  isBehind = false;
  expect(await place.apply()).toMatchObject({ code: 0, report: { status: 'in-sync' } });
});

it('parks no record that only an old listing makes surplus', { timeout: 60_000 }, async () => {
  const mx = (priority: number, content: string): FileRecord => ({
    type: 'MX',
    name: null,
    content,
    priority,
    ttl: null,
  });
  const actual = [address('a', '203.0.113.1'), address('b', '203.0.113.1'), address('c', '203.0.113.1')];
  let old: WireTemplate | null = null;
  let isOld = false;
  const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
    if (where === 'answer' || template.name !== 'web') return template;
    old ??= template;
    const shown = isOld ? old : template;
    isOld = false;
    return shown;
  };
  const place = await openPlace([mx(10, 'mx1.example.net'), mx(20, 'mx2.example.net'), ...actual], {
    quirk: { show },
  });
  const desired = [mx(10, 'mx1.example.net'), ...actual];
  await place.write(desired, { surplus: 'park' });
  expect(await place.apply()).toMatchObject({ writes: 0 });
  const [first] = await place.records();
  await place.service.change('remove-record', { record_id: first?.id });
  // The other one is changed into the desired one, and is the only one.
  expect(await place.apply()).toMatchObject({ writes: 1 });
  isOld = true;
  expect(await place.apply()).toMatchObject({ writes: 0 });
  expect((await place.records())[0]).toMatchObject({ type: 'MX', content: 'mx1.example.net', name: null });
});
