import { describe, expect, it, vi } from 'vitest';
import { startProcess } from './process.ts';
import { reportOf, run, start, workplace } from './program.ts';
import { startHoldingService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('the lock', () => {
  it('makes a second apply wait, name the holder, and give up with a report', async () => {
    const { service, held, release } = await startHoldingService();
    const launch = { cwd: await workplace(), env: service.env };
    const first = startProcess(['apply', 'voice', '--yes'], launch);
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
    const program = startProcess(['apply', 'voice', '--yes'], launch);
    await held;
    program.signal('SIGINT');
    await program.says('shutting down after the write in flight');
    program.signal('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 130, stdout: '' });
  });
});
