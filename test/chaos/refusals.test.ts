import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { noFault, type Fault } from './fault.ts';
import type { Stage } from './faulty-service.ts';
import { address, openPlace } from './place.ts';
import { writeTemplateFile, type FileRecord } from './template-files.ts';
import type { SeenRequest, WireTemplate } from './wire.ts';

const hosts = Array.from({ length: 10 }, (_, index) => address(`host${index}`, `203.0.113.${index + 1}`));
const sip: FileRecord = {
  type: 'SRV',
  name: '_sip._tcp',
  content: '5 5060 sip.example.net',
  priority: 10,
  ttl: null,
};

/** The service refuses the name host4. */
const refuseOne = ({ parameters }: SeenRequest): Fault =>
  parameters['name'] === 'host4' ? { commit: 'never', answer: 422 } : noFault;

const minute = 60_000;

describe('one record of ten that the service refuses', { timeout: 60_000 }, () => {
  it('fails alone, waits longer each time, and is reported with its next try', async () => {
    let listings = 0;
    const onStage = (stage: Stage, { operation }: SeenRequest): void => {
      if (stage === 'arrived' && operation === 'list') listings += 1;
    };
    const place = await openPlace([address(null, '203.0.113.100')], { faultOf: refuseOne, onStage });
    const { writes } = place.service.witness;
    await place.write([address(null, '203.0.113.100'), ...hosts]);

    const daemonAt = async (clockAhead: number) => {
      listings = 0;
      const before = writes.length;
      const daemon = place.start(['run', '--listen', 'off'], { clockAhead });
      const startup = daemon.line(({ event }) => event === 'drift.report');
      const finished = daemon.line(({ event }) => event === 'pass.finished');
      const report = await startup;
      await finished;
      daemon.kill('SIGTERM');
      await daemon.ended;
      return { report, sent: writes.slice(before).map(({ request }) => request.parameters['name']) };
    };
    const pauseIn = (report: unknown, now: number): number => {
      const [, retryAt = ''] = /"retryAt":"([^"]+)"/.exec(JSON.stringify(report)) ?? [];
      return Date.parse(retryAt) - now;
    };

    const first = await daemonAt(0);
    expect(new Set(first.sent)).toEqual(new Set(hosts.map(({ name }) => name)));
    expect(first.sent).toHaveLength(10);
    expect(first.report).toMatchObject({ status: 'failed', inSync: 10 });
    const failed = { action: 'add', outcome: 'failed', error: expect.stringContaining('422') };
    expect(first.report).toMatchObject({
      differences: expect.arrayContaining([expect.objectContaining(failed)]),
    });

    const second = await daemonAt(0);
    expect(second.sent).toEqual([]);
    expect(listings).toBe(1);
    expect(second.report).toMatchObject({
      status: 'drifted',
      inSync: 10,
      differences: [
        {
          action: 'blocked',
          reason: 'refused',
          message: expect.stringContaining('422'),
          desired: { name: 'host4' },
          retryAt: expect.stringMatching(/^\d{4}-/),
        },
      ],
    });

    let now = Date.now();
    let pause = 0;
    for (const clockAhead of [2 * minute, 10 * minute, 60 * minute]) {
      const later = await daemonAt(clockAhead);
      expect(later.sent).toEqual(['host4']);
      now = Date.now() + clockAhead;
      const next = pauseIn(later.report, now);
      expect(next).toBeGreaterThan(pause);
      pause = next;
    }
    expect(place.service.witness.wrongs).toEqual([]);
  });

  it('does not stop other changes in the next pass, and is retried when it is edited', async () => {
    const place = await openPlace([address(null, '203.0.113.100')], { faultOf: refuseOne });
    const { writes } = place.service.witness;
    const sentSince = (before: number) =>
      writes.slice(before).map(({ request }) => request.parameters['content']);
    await place.write([address(null, '203.0.113.100'), ...hosts]);
    const daemon = place.start(['run', '--listen', 'off']);
    const next = (trigger: string) =>
      daemon.line((line) => line['event'] === 'pass.finished' && line['trigger'] === trigger);
    const startup = next('startup');
    await startup;
    expect(writes).toHaveLength(10);

    let before = writes.length;
    const edited = next('file-change');
    await place.write([address(null, '203.0.113.101'), ...hosts]);
    expect(await edited).toMatchObject({ summary: { blocked: 1, applied: 1 } });
    expect(sentSince(before)).toEqual(['203.0.113.101']);

    before = writes.length;
    const again = next('file-change');
    const others = hosts.filter(({ name }) => name !== 'host4');
    await place.write([address(null, '203.0.113.101'), ...others, address('host4', '203.0.113.200')]);
    await again;
    expect(sentSince(before)).toEqual(['203.0.113.200']);
    daemon.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });

  it('is retried by each apply', async () => {
    const place = await openPlace([address(null, '203.0.113.100')], { faultOf: refuseOne });
    await place.write([address(null, '203.0.113.100'), ...hosts]);
    expect(await place.apply()).toMatchObject({
      code: 1,
      writes: 10,
      report: { summary: { applied: 9, add: 1 } },
    });
    const again = await place.apply();
    expect(again).toMatchObject({ code: 1, writes: 1 });
    expect(again.report.templates[0]).toMatchObject({
      inSync: 10,
      differences: [{ action: 'add', outcome: 'failed', retryAt: expect.stringMatching(/^\d{4}-/) }],
    });
  });
});

it('is no failure if the record is there nevertheless', { timeout: 60_000 }, async () => {
  const faultOf = ({ parameters }: SeenRequest): Fault =>
    parameters['name'] === 'host4' ? { commit: 'now', answer: 409 } : noFault;
  const place = await openPlace([address(null, '203.0.113.100')], { faultOf });
  await place.write([address(null, '203.0.113.100'), ...hosts]);
  expect(await place.apply()).toMatchObject({ code: 0, writes: 10, report: { status: 'in-sync' } });
  expect(await place.apply()).toMatchObject({ code: 0, writes: 0, report: { status: 'in-sync' } });
});

it('is not followed by steps that only an old listing requires', { timeout: 60_000 }, async () => {
  const actual = [address('api', '203.0.113.1'), address('www', '203.0.113.8')];
  let before: WireTemplate | undefined;
  const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate =>
    template.name === 'web' && where === 'listing' ? (before ??= template) : template;
  const faultOf = ({ parameters }: SeenRequest): Fault =>
    parameters['name'] === 'host4' ? { commit: 'never', answer: 422 } : noFault;
  const place = await openPlace(actual, { faultOf, quirk: { show } });
  await place.write(actual);
  expect(await place.apply()).toMatchObject({ writes: 0 });
  const www = (await place.records()).find(({ name }) => name === 'www');
  // Somebody changes it into the other desired one: only the answer to the first write shows it, no listing does.
  await place.service.change('edit-record', { record_id: www?.id, content: '203.0.113.9' });
  await place.write([
    address('api', '203.0.113.2'),
    address('host4', '203.0.113.4'),
    address('www', '203.0.113.8'),
    address('www', '203.0.113.9'),
  ]);
  expect(await place.apply()).toMatchObject({ writes: 2 });
  expect((await place.records()).map(({ content }) => content)).toEqual(['203.0.113.2', '203.0.113.9']);
});

it(
  'ends the writes of its template if the next reading shows more records',
  { timeout: 60_000 },
  async () => {
    let isRefused = false;
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (template.name !== 'web' || where === 'answer') return template;
      // And fewer: neither of the two listings is the whole template.
      const hidden = isRefused ? ['api'] : ['new1', 'new2'];
      const isShown = ({ name }: { name: string | null }): boolean => !hidden.includes(name ?? '');
      return { ...template, dns_template_records: template.dns_template_records.filter(isShown) };
    };
    const faultOf = ({ parameters }: SeenRequest): Fault => {
      if (parameters['name'] !== 'host4') return noFault;
      isRefused = true;
      return { commit: 'never', answer: 422 };
    };
    const spf = (content: string): FileRecord => ({ ...address(null, content), type: 'TXT' });
    const there = [...hosts.slice(0, 3), address('api', '203.0.113.1')];
    const others = [address('new1', '203.0.113.1'), address('new2', '203.0.113.1')];
    const place = await openPlace([...there, spf('v=spf1 -all'), ...others], { faultOf, quirk: { show } });
    await place.write([...there, hosts[4]!, spf('v=spf1 mx -all')]);
    const { writes, report } = await place.apply();
    expect(writes).toBe(1);
    expect(report.templates[0]?.message).toMatch(/^stopped after a refusal: /);
  },
);

it(
  'ends the writes of its template if the next reading shows other values',
  { timeout: 60_000 },
  async () => {
    let isRefused = false;
    const isOld = ({ content }: { content: string }): boolean => content === '203.0.113.7';
    const show = (template: WireTemplate, where: 'listing' | 'answer'): WireTemplate => {
      if (!isRefused || where === 'answer') return template;
      const records = template.dns_template_records;
      const changed = records.map((record) =>
        isOld(record) ? { ...record, name: '_acme-challenge' } : record,
      );
      return { ...template, dns_template_records: changed };
    };
    const faultOf = ({ parameters }: SeenRequest): Fault => {
      if (parameters['name'] !== 'host4') return noFault;
      isRefused = true;
      return { commit: 'never', answer: 422 };
    };
    const actual = [address('api', '203.0.113.1'), address('old', '203.0.113.7')];
    const place = await openPlace(actual, { faultOf, quirk: { show } });
    await place.write(actual);
    expect(await place.apply()).toMatchObject({ writes: 0 });
    await place.write([address('api', '203.0.113.2'), hosts[4]!], { surplus: 'park' });
    const { writes, report } = await place.apply();
    expect(writes).toBe(2);
    expect(report.templates[0]?.message).toMatch(/^stopped after a refusal: .* other values/);
  },
);

it('affects only the client that was refused', { timeout: 60_000 }, async () => {
  const faultOf = ({ caller, parameters }: SeenRequest): Fault =>
    caller === 'user-of-beta' && parameters['type'] === 'SRV' ? { commit: 'never', answer: 403 } : noFault;
  const place = await openPlace([address(null, '203.0.113.1')], { faultOf });
  const web = {
    surplus: 'report',
    adopt: false,
    records: [address(null, '203.0.113.1'), hosts[0]!, sip],
  } as const;
  await writeTemplateFile(path.join(place.folder, 'acme'), { ...web, template: 'web' });
  await place.service.change('add-template', {
    name: 'web-of-beta',
    records: [{ type: 'A', content: '203.0.113.1' }],
  });
  await writeTemplateFile(path.join(place.folder, 'beta'), { ...web, template: 'web-of-beta' });
  const client = (name: string) => ({
    userToken: { env: `USER_OF_${name}` },
    clientToken: { env: `CLIENT_OF_${name}` },
    templates: path.join(place.folder, name),
  });
  const config = path.join(place.folder, 'clients.yaml');
  writeFileSync(config, JSON.stringify({ clients: { acme: client('acme'), beta: client('beta') } }));
  const env = {
    DNS_SYNC_USER_TOKEN: undefined,
    DNS_SYNC_CLIENT_TOKEN: undefined,
    DNS_SYNC_TEMPLATES: undefined,
    USER_OF_acme: 'user-of-acme',
    CLIENT_OF_acme: 'token-1',
    USER_OF_beta: 'user-of-beta',
    CLIENT_OF_beta: 'token-2',
  };
  const { code, writes, report } = await place.apply({ env, args: ['--config', config] });
  expect({ code, writes }).toEqual({ code: 1, writes: 4 });
  expect(report.templates).toMatchObject([
    { client: 'acme', status: 'in-sync', inSync: 3 },
    { client: 'beta', status: 'failed', inSync: 2 },
  ]);
  expect(report.templates[1]?.differences.filter(({ outcome }) => outcome === 'failed')).toMatchObject([
    {
      desired: { type: 'SRV' },
      error: expect.stringContaining('403'),
      retryAt: expect.stringMatching(/^\d{4}-/),
    },
  ]);
});

it('waits for its retry though the record to reuse is parked', { timeout: 60_000 }, async () => {
  let [isLost, isRefused] = [true, false];
  const faultOf = ({ parameters }: SeenRequest): Fault => {
    if (parameters['name'] !== 'mail') return noFault;
    if (isLost) return { commit: 'never', answer: 'drop' };
    return isRefused ? { commit: 'never', answer: 409 } : noFault;
  };
  const alias = (name: string): FileRecord => ({ ...address(name, 'web.example.net'), type: 'CNAME' });
  const place = await openPlace([...hosts, alias('old')], { faultOf });
  await place.write([...hosts, alias('mail')], { surplus: 'park', adopt: true });
  // The record to reuse has a tentative binding from an update, then the update is refused.
  expect(await place.apply()).toMatchObject({ code: 1, writes: 1 });
  [isLost, isRefused] = [false, true];
  expect(await place.apply()).toMatchObject({ code: 1, writes: 1 });

  isRefused = false;
  const writesOfPass = async (): Promise<number> => {
    const before = place.service.witness.writes.length;
    const daemon = place.start(['run', '--listen', 'off']);
    await daemon.line(({ event }) => event === 'pass.finished');
    daemon.kill('SIGTERM');
    await daemon.ended;
    return place.service.witness.writes.length - before;
  };
  // It is only parked.
  expect(await writesOfPass()).toBe(1);
  expect((await place.records()).at(-1)?.name).toMatch(/^_parked-/);
  expect(await writesOfPass()).toBe(0);
});

describe('a record that was parked for a refused one', { timeout: 60_000 }, () => {
  it('is restored, and is parked again for the same cause', async () => {
    let isRefusing = true;
    const faultOf = ({ parameters }: SeenRequest): Fault =>
      isRefusing && parameters['type'] === 'CNAME' ? { commit: 'never', answer: 422 } : noFault;
    const alias: FileRecord = { ...address('www', 'web.example.net'), type: 'CNAME' };
    const policy = { surplus: 'park', mode: 'edits' } as const;
    const before = [address(null, '203.0.113.1'), address('www', '203.0.113.2')];
    const place = await openPlace(before, { faultOf });
    await place.write(before, policy);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 0 });

    await place.write([before[0]!, alias], policy);
    const park = { action: 'park', cause: 'edited' };
    const refused = await place.apply();
    expect(refused).toMatchObject({ code: 1, writes: 3 });
    expect(await place.records()).toMatchObject(before.map(({ name, content }) => ({ name, content })));
    expect(refused.report.templates[0]?.differences).toMatchObject([park, { outcome: 'failed' }]);

    isRefusing = false;
    const accepted = await place.apply();
    expect(accepted).toMatchObject({ code: 0, writes: 2, report: { status: 'in-sync' } });
    expect(accepted.report.templates[0]?.differences).toMatchObject([park, { action: 'add' }]);
  });
});
