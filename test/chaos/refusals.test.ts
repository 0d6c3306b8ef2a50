import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { noFault, type Fault } from './fault.ts';
import type { Stage } from './faulty-service.ts';
import { address, openPlace } from './place.ts';
import { writeTemplateFile, type FileRecord } from './template-files.ts';
import type { SeenRequest } from './wire.ts';

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

    const daemonAt = async (later: number) => {
      listings = 0;
      const before = writes.length;
      const daemon = place.start(['run', '--listen', 'off'], { later });
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
    for (const ahead of [2 * minute, 10 * minute, 60 * minute]) {
      const later = await daemonAt(ahead);
      expect(later.sent).toEqual(['host4']);
      now = Date.now() + ahead;
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
});

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
