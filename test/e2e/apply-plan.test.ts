import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { run, start, workplace } from './program.ts';
import { startHoldingService, startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('apply --plan', () => {
  const planned = async () => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    await run(['plan', '--format', 'json', '--out', 'plan.json'], launch);
    return { service, launch };
  };

  it('writes nothing after a change at the service', async () => {
    const { service, launch } = await planned();
    await service.change('edit-record', { record_id: 171, content: '203.0.113.7' });
    const { code, stdout, stderr } = await run(['apply', '--plan', 'plan.json', '--yes'], launch);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('the plan is no longer the one in plan.json; nothing was written');
    expect(stderr).toContain('standard-web');
    expect(stderr).toContain('no longer: update www A 203.0.113.9 ttl 3600 → www A 203.0.113.10 ttl 3600');
    expect(stderr).toContain('new: update www A 203.0.113.7 ttl 3600 → www A 203.0.113.10 ttl 3600');
    expect(stderr).not.toContain('voice');
    expect(service.writes()).toEqual([]);
  });

  it('refuses a report of apply', async () => {
    const { launch } = await planned();
    await run(['apply', '--yes', '--format', 'json', '--out', 'applied.json'], launch);
    const { code, stderr } = await run(['apply', '--plan', 'applied.json', '--yes'], launch);
    expect(code).toBe(1);
    expect(stderr).toContain('applied.json is not a report of plan');
  });

  it('writes nothing for several clients after a change for one of them', async () => {
    const service = await startService();
    const cwd = await workplace();
    await writeFile(
      path.join(cwd, 'dns-template-sync.yaml'),
      `
      clients:
        acme: {templates: templates/voice.yaml, clientToken: {env: ACME_TOKEN}}
        bakery: {templates: templates/standard-web.yaml, clientToken: {env: BAKERY_TOKEN}}
      `,
    );
    const { DNS_SYNC_CLIENT_TOKEN: _, ...env } = service.env;
    const launch = { cwd, env: { ...env, ACME_TOKEN: 'token of acme', BAKERY_TOKEN: 'token of the bakery' } };
    await run(['plan', '--format', 'json', '--out', 'plan.json'], launch);
    await service.change('edit-record', { record_id: 171, content: '203.0.113.7' });
    const changed = await run(['apply', '--plan', 'plan.json', '--yes'], launch);
    expect(changed).toMatchObject({ code: 1, stderr: expect.stringContaining('\n  bakery/standard-web: ') });
    const only = await run(['apply', '--plan', 'plan.json', '--yes', '--client', 'acme'], launch);
    expect(only).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the plan in plan.json is of another service, or of other clients'),
    });
    expect(service.writes()).toEqual([]);
    await service.change('edit-record', { record_id: 171, content: '203.0.113.9' });
    expect(await run(['apply', '--plan', 'plan.json', '--yes'], launch)).toMatchObject({ code: 0 });
    expect(service.writes().length).toBeGreaterThan(1);
  });

  it('compares with the plan after the wait for another pass', async () => {
    const { service, held, release } = await startHoldingService();
    const launch = { cwd: await workplace(), env: service.env };
    await run(['plan', 'voice', '--format', 'json', '--out', 'plan.json'], launch);
    const first = start(['apply', 'voice', '--yes'], launch);
    await held;
    const second = start(['apply', 'voice', '--plan', 'plan.json', '--yes'], launch);
    await second.says('waiting for another pass: process ');
    release();
    expect(await first.ended).toMatchObject({ code: 0 });
    const { code, stderr } = await second.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('the plan is no longer the one in plan.json; nothing was written');
    expect(stderr).toContain('no longer: update _sips._tcp SRV 10 5 5060 sip.example.net');
    expect(service.writes()).toHaveLength(1);
  });
});
