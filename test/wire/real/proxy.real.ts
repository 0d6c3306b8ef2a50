import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { reportOf, run, workplace } from '../../program.ts';
import { environment } from '../../service.ts';
import { freePort } from '../../free-port.ts';
import { authority, secureFront } from '../certificates.ts';

/** Where `.ci/proxy.sh` has put it. */
const program = path.join(process.env['PROXY'] ?? '', 'usr/bin/tinyproxy');

/** Starts tinyproxy with these lines in its settings; resolves once it listens. */
const startTinyproxy = async (cwd: string, lines: readonly string[] = []) => {
  const port = await freePort();
  const log = path.join(cwd, 'proxy.log');
  const own = ['Listen 127.0.0.1', `Port ${port}`, 'Timeout 60', `LogFile "${log}"`, 'LogLevel Connect'];
  await writeFile(path.join(cwd, 'proxy.conf'), [...own, ...lines, ''].join('\n'));
  const child = spawn(program, ['-d', '-c', path.join(cwd, 'proxy.conf')], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error('tinyproxy ended');
    await setTimeout(20);
  }
  return { port, requests: async () => (await readFile(log, 'utf8')).match(/Request .*/g) ?? [] };
};

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('close', () => undefined).unref();
    socket.once('connect', () => socket.destroy());
  });

const scene = async () => {
  const cwd = await workplace();
  const sandbox = await startSandbox({});
  onTestFinished(() => sandbox.close());
  return { cwd, sandbox, port: Number(new URL(sandbox.url).port) };
};

test('a service behind TLS of a private authority is read and written through it', async () => {
  const { cwd, port } = await scene();
  const secure = await secureFront(port);
  const proxy = await startTinyproxy(cwd, ['BasicAuth somebody secret-word']);
  const env = {
    ...environment(`https://localhost:${secure}/api/v1`),
    DNS_SYNC_PROXY: `http://somebody:secret-word@127.0.0.1:${proxy.port}`,
    DNS_SYNC_CA: authority.file,
  };
  const { stdout, stderr } = await run(['apply', '--yes', '--format', 'json'], { cwd, env });
  expect(reportOf(stdout).summary).toMatchObject({ applied: 6, failedTemplates: 0 });
  // A tunnel for reads, which may be one of several, and one for each write.
  const tunnels = (await proxy.requests()).filter((line) => line.includes(`CONNECT localhost:${secure}`));
  expect(tunnels.length).toBeGreaterThanOrEqual(7);
  expect(stdout + stderr).not.toContain('secret-word');

  const denied = await run(['plan'], {
    cwd,
    env: { ...env, DNS_SYNC_PROXY: `http://somebody:wrong-word@127.0.0.1:${proxy.port}` },
  });
  expect(denied.code).toBe(1);
  expect((denied.stdout + denied.stderr).replaceAll(/\s+/g, ' ')).toMatch(
    /the proxy http:\/\/127\.0\.0\.1:\d+ \(DNS_SYNC_PROXY\) .*40[17]/,
  );
});

test('a service in clear is read and written through it', async () => {
  const { cwd, sandbox, port } = await scene();
  const proxy = await startTinyproxy(cwd);
  const env = { ...environment(sandbox.url), DNS_SYNC_PROXY: `http://127.0.0.1:${proxy.port}` };
  const { stdout } = await run(['apply', '--yes', '--format', 'json'], { cwd, env });
  expect(reportOf(stdout).summary).toMatchObject({ applied: 6, failedTemplates: 0 });
  const writes = (await proxy.requests()).filter((line) => line.includes(`CONNECT 127.0.0.1:${port}`));
  expect(writes.length).toBeGreaterThanOrEqual(7);
});
