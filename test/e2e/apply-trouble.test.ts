import { describe, expect, it, vi } from 'vitest';
import { rawServer, scriptedServer, silence } from '../wire/scripted-server.ts';
import { startProcess } from './process.ts';
import { reportOf, run, start, workplace } from './program.ts';
import { environment, startHoldingService } from './service.ts';

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
      problems: [{ check: 'no-pass', client: 'default', message: expect.stringMatching(holder) }],
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

  it('ends reads at once, and speaks of no write where there is none', async () => {
    const silent = await scriptedServer(silence);
    const env = { ...environment(silent.url), DNS_SYNC_REQUEST_TIMEOUT: '10m' };
    const program = startProcess(['apply', '--yes'], { cwd: await workplace(), env });
    await vi.waitFor(() => expect(silent.seen).toHaveLength(1), { timeout: 10_000 });
    program.signal('SIGINT');
    const { code, stdout, stderr } = await program.ended;
    expect({ code, said: stderr.split('\n').slice(-2) }).toEqual({ code: 1, said: ['shutting down', ''] });
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('aborted: this program is shutting down');
    expect(silent.seen).toHaveLength(1);
  });

  it.each([
    ['run', '--listen', 'off'],
    ['apply', '--yes'],
  ])('ends %s at once where a proxy does not answer', async (...args) => {
    let hasConnected = (): void => undefined;
    const connected = new Promise<void>((resolve) => (hasConnected = resolve));
    const proxy = await rawServer(() => hasConnected());
    const env = {
      ...environment('https://panel.example.net/api/v1'),
      DNS_SYNC_PROXY: `http://${proxy}`,
      DNS_SYNC_REQUEST_TIMEOUT: '10m',
    };
    const program = startProcess(args, { cwd: await workplace(), env });
    await connected;
    program.signal('SIGTERM');
    expect(await program.ended).toMatchObject({ code: args[0] === 'run' ? 0 : 1 });
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
