import { describe, expect, it, vi } from 'vitest';
import { edit, run, start, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('the probes of run', () => {
  const probe = async (url: unknown, name: string) => {
    const answer = await fetch(`${String(url)}${name}`);
    return { status: answer.status, text: await answer.text() };
  };
  const listening = ['run', '--listen', '127.0.0.1:0', '--schedule', '0 0 1 1 *'];

  it('answer: alive at once, ready once templates and service were read', async () => {
    let isThere = false;
    const service = await startService(() =>
      isThere ? null : (response) => response.writeHead(401).end('who are you?'),
    );
    const cwd = await workplace();
    const program = start(listening, { cwd, env: service.env });
    const { listen } = await program.event('daemon.started');
    await program.event('pass.finished');
    expect(await probe(listen, '/livez')).toEqual({ status: 200, text: 'ok\n' });
    const notReady = await probe(listen, '/readyz');
    expect(notReady.status).toBe(503);
    expect(JSON.parse(notReady.text)).toEqual({
      ready: false,
      reason: expect.stringContaining('the service answered 401'),
    });
    isThere = true;
    await edit(cwd, 'voice.yaml', '5061', '5062');
    await program.event('pass.finished', ({ status }) => status === 'drifted');
    for (const name of ['/readyz', '/healthz'])
      expect(await probe(listen, name)).toEqual({ status: 200, text: '{"ready":true,"reason":null}' });
  });

  it('need a free port, or run says so and ends with 1', async () => {
    const service = await startService();
    const cwd = await workplace();
    const { host } = new URL(service.url);
    const { code, stdout, stderr } = await run(['run', '--listen', host], { cwd, env: service.env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`cannot listen on ${host}: the address is in use already`);
  });
});
