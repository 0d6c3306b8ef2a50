import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { startProcess } from '../process.ts';
import { linesOf, openDaemon, parseLine, reportOf, run, start, workplace } from '../program.ts';
import { environment, parametersOf, startHoldingService, startService } from '../service.ts';
import { rawServer, scriptedServer, silence } from '../wire/scripted-server.ts';

vi.setConfig({ testTimeout: 30_000 });

const quiet = ['run', '--listen', 'off', '--schedule', '0 0 1 1 *'];

describe('a signal to run', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends run with 0, and SIGUSR1 opens no debugger',
    async (name) => {
      const service = await startService();
      const program = startProcess(quiet, { cwd: await workplace(), env: service.env });
      await program.event('pass.finished');
      program.signal('SIGUSR1');
      await program.event('signal.ignored');
      program.signal(name);
      expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
      expect(linesOf(program).at(-1)).toMatchObject({ event: 'daemon.stopped', signal: name });
    },
  );

  it('the image starts the program so that SIGUSR1 opens no debugger before the handler is set either', () => {
    expect(readFileSync('Dockerfile', 'utf8')).toContain('ENTRYPOINT ["node", "--disable-sigusr1", ');
  });

  it('the first one lets the write in flight end, and starts no other', async () => {
    const { service, held, release } = await startHoldingService();
    const cwd = await workplace();
    const args = [...quiet, '--templates', 'templates/standard-web.yaml'];
    const program = start(args, { cwd, env: service.env });
    await held;
    program.signal('SIGTERM');
    await program.says('shutting down; waiting for running writes');
    release();
    expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
    const lines = linesOf(program);
    expect(lines.filter(({ event }) => event === 'change.applied')).toMatchObject([{ recordId: 171 }]);
    expect(lines.map(({ event }) => event).slice(-3)).toEqual([
      'drift.report',
      'pass.finished',
      'daemon.stopped',
    ]);
    expect(service.writes()).toHaveLength(1);
  });

  it.each([
    ['run', quiet],
    ['apply', ['apply', '--yes']],
  ])('the second one ends %s at once with 130; the write is settled by the next pass', async (_, args) => {
    const { service, held, release } = await startHoldingService();
    const cwd = await workplace();
    const env = { ...service.env, DNS_SYNC_TEMPLATES: 'templates/office-reverse.yaml' };
    const program = startProcess(args, { cwd, env });
    await held;
    program.signal('SIGINT');
    program.signal('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 130 });
    expect(program.output()).not.toContain('daemon.stopped');
    release();
    await vi.waitFor(async () => expect(await service.records(26)).toHaveLength(6), { timeout: 10_000 });

    const told = await run(['apply', '--yes'], { cwd, env });
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining('5 in sync') });
    expect(service.writes().map(parametersOf)).toEqual([
      { type: 'PTR', name: '13', content: 'printer.office.example.net', ttl: '86400' },
    ]);
  });
});

describe('a signal to apply', () => {
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
});

it('a daemon that a program starts says where it listens, and ends when it is closed as at a signal', async () => {
  const { service, held, release } = await startHoldingService();
  const args = { schedule: '0 0 1 1 *', listen: '127.0.0.1:0', templates: ['templates/standard-web.yaml'] };
  const daemon = await openDaemon(args, { cwd: await workplace(), env: service.env });
  expect((await fetch(`${daemon.url}/livez`)).ok).toBe(true);
  await held;
  const closed = daemon.close();
  release();
  await Promise.all([closed, daemon.ended]);
  expect(service.writes()).toHaveLength(1);
  expect(parseLine(daemon.output().trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    event: 'daemon.stopped',
    signal: null,
  });
  await expect(fetch(`${daemon.url}/livez`)).rejects.toThrow('fetch failed');
});
