import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { json, status } from '../hosting/scripted-server.ts';
import { reportOf, run, start, workplace } from './program.ts';
import { parametersOf, startHoldingService, startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('writes that go wrong', () => {
  const refusing = (code: number) =>
    startService(({ method }) => (method === 'PUT' ? status(code, 'no') : null));

  it('are in the report, and end apply with 1', async () => {
    const service = await refusing(422);
    const launch = { cwd: await workplace(), env: service.env };
    const { code, stdout } = await run(['apply', 'voice', '--yes', '--format', 'json'], launch);
    expect(code).toBe(1);
    expect(reportOf(stdout).templates[0]).toMatchObject({
      status: 'failed',
      differences: [
        {
          action: 'update',
          outcome: 'failed',
          error: expect.stringContaining('the service answered 422: no'),
        },
      ],
    });
  });

  it('do not start if their intent cannot be saved', async () => {
    const service = await startService();
    const cwd = await workplace();
    await writeFile(path.join(cwd, 'state'), 'a file where a directory should be');
    const { code, stderr } = await run(['apply', '--yes'], { cwd, env: service.env });
    expect(code).toBe(1);
    expect(stderr).toContain('the state directory cannot be used, and nothing is written');
    expect(stderr).toContain(`${path.join(cwd, 'state')}: it is a file; set --state-dir`);
    expect(service.writes()).toEqual([]);
    expect(await run(['plan'], { cwd, env: service.env })).toMatchObject({ code: 0 });
  });

  it('have an unknown outcome if no answer comes, and end apply with 1', async () => {
    const service = await refusing(500);
    const launch = { cwd: await workplace(), env: service.env };
    const { code, stdout } = await run(['apply', 'voice', '--yes', '--format', 'json'], launch);
    expect(code).toBe(1);
    expect(reportOf(stdout).templates[0]?.differences).toMatchObject([{ outcome: 'unknown' }]);
    expect(service.writes()).toHaveLength(1);
  });

  it('are never sent twice by repeated applies, until a person retries', async () => {
    const service = await refusing(500);
    const launch = { cwd: await workplace(), env: service.env };
    const args = ['apply', 'office-reverse', '--yes', '--format', 'json'];
    const first = await run(args, launch);
    const again = await run(args, launch);
    expect([first.code, again.code]).toEqual([1, 1]);
    expect(service.writes()).toHaveLength(1);
    expect(reportOf(again.stdout).templates[0]).toMatchObject({
      status: 'held',
      message: expect.stringMatching(/an earlier write has not settled: PTR 13 .* may still appear until/),
      retryAt: expect.any(String),
      differences: [{ action: 'add', outcome: 'skipped', skippedBy: 'held' }, { action: 'surplus' }],
    });
    await run([...args, '--retry'], launch);
    expect(service.writes()).toHaveLength(2);
  });

  it('are held with the reason of a guard, until they are forced', async () => {
    const service = await startService();
    const env = { ...service.env, DNS_SYNC_MAX_ADDS: '0' };
    const launch = { cwd: await workplace(), env };
    const held = await run(['apply', 'office-reverse', '--yes'], launch);
    expect(held.code).toBe(1);
    expect(held.stdout).toContain('held');
    expect(held.stdout).toContain('limits.maxAdds');
    expect(service.writes()).toEqual([]);
    expect(await run(['plan', 'office-reverse'], launch)).toMatchObject({ code: 0 });
    expect(await run(['apply', 'office-reverse', '--yes', '--force'], launch)).toMatchObject({ code: 0 });
    expect(service.writes().map(parametersOf)).toMatchObject([{ type: 'PTR', name: '13' }]);
  });
});

describe('the lock', () => {
  it('makes a second apply wait, name the holder, and give up with a report', async () => {
    const { service, held, release } = await startHoldingService();
    const launch = { cwd: await workplace(), env: service.env };
    const first = start(['apply', 'voice', '--yes'], launch);
    await held;
    const args = ['apply', 'voice', '--yes', '--lock-timeout', '100ms', '--format', 'json'];
    const { code, stdout, stderr } = await run(args, launch);
    const holder = /process \d+ on \S+, since \S+Z/;
    expect(code).toBe(1);
    expect(stderr).toMatch(holder);
    expect(reportOf(stdout)).toMatchObject({
      status: 'failed',
      templates: [{ template: 'voice', status: 'failed', message: expect.stringMatching(holder) }],
    });
    release();
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(await run(args, launch)).toMatchObject({ code: 0 });
  });
});

describe('a signal', () => {
  it('lets the write in flight end, starts no other, and ends apply with 1', async () => {
    const { service, held, release } = await startHoldingService();
    const launch = { cwd: await workplace(), env: service.env };
    const program = start(['apply', 'standard-web', '--yes', '--format', 'json'], launch);
    await held;
    program.signal('SIGINT');
    await program.says('shutting down after the write in flight');
    release();
    const { code, stdout } = await program.ended;
    const outcomes = reportOf(stdout).templates[0]?.differences.map(({ outcome }) => outcome);
    expect({ code, outcomes: outcomes?.slice(0, 3) }).toEqual({
      code: 1,
      outcomes: ['applied', 'skipped', 'skipped'],
    });
    expect(service.writes()).toHaveLength(1);
  });

  it('a second time ends it at once', async () => {
    const { service, held } = await startHoldingService();
    const launch = { cwd: await workplace(), env: service.env };
    const program = start(['apply', 'voice', '--yes'], launch);
    await held;
    program.signal('SIGINT');
    await program.says('shutting down after the write in flight');
    program.signal('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 130, stdout: '' });
  });
});

describe('a service that refuses everything', () => {
  it('gets one request with tokens that it rejects', async () => {
    const service = await startService(() => json({ error: 'who are you?' }, 401));
    const { code, stdout } = await run(['apply', '--yes'], { cwd: await workplace(), env: service.env });
    expect(code).toBe(1);
    expect(stdout).toContain('401');
    expect(service.seen).toHaveLength(1);
  });
});
