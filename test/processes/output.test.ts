import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { built } from '../built.ts';
import { environmentOf, workplace } from '../program.ts';
import { startService } from '../service.ts';
import { freePort } from '../free-port.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('the command line', () => {
  it.each([
    ['plan', [], 0],
    ['a plan with differences', ['--detailed-exitcode'], 2],
    ['an error', ['--templates', 'no-such-directory'], 1],
  ])('ignores a reader that has gone, and keeps its exit code: %s', async (_, options, code) => {
    const child = await startPlan(options, 'pipe');
    child.stdout?.destroy();
    expect(await endOf(child)).toEqual({ code, stderr: '' });
  });

  it.skipIf(!existsSync('/dev/full'))('ends with 1 if the result cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const child = await startPlan([], full);
    expect(await endOf(child)).toEqual({
      code: 1,
      stderr: 'dns-template-sync: cannot write to stdout: ENOSPC: no space left on device, write\n',
    });
  });
});

const startPlan = async (options: readonly string[], stdout: 'pipe' | number): Promise<ChildProcess> => {
  const cwd = await workplace();
  const { PATH = '' } = process.env;
  const args = [built('main.js'), 'plan', '--sandbox', ...options];
  return spawn(process.execPath, args, { cwd, env: { PATH, HOME: cwd }, stdio: ['ignore', stdout, 'pipe'] });
};

const endOf = async (child: ChildProcess): Promise<{ code: unknown; stderr: string }> => {
  let stderr = '';
  child.stderr?.on('data', (text: Buffer) => void (stderr += text.toString()));
  const [code]: unknown[] = await once(child, 'close');
  return { code, stderr };
};

/** The writing end of a pipe in which there is no room, and that nobody reads. */
const fullPipe = async (): Promise<number> => {
  const fifo = path.join(await workplace(), 'fifo');
  execFileSync('mkfifo', [fifo]);
  const filling = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(filling));
  try {
    for (;;) writeSync(filling, 'x'.repeat(4_096));
  } catch {
    return openSync(fifo, constants.O_WRONLY);
  }
};

it('who does not read the log stops neither passes nor answers nor the end', async () => {
  const service = await startService();
  const [stdout, port, cwd] = [await fullPipe(), await freePort(), await workplace()];
  const args = ['run', '--listen', `127.0.0.1:${port}`, '--schedule', '0 0 1 1 *'];
  const token = 'a-trigger-token-of-this-test';
  const child = spawn(process.execPath, [built('main.js'), ...args], {
    cwd,
    env: environmentOf({ cwd, env: { ...service.env, DNS_SYNC_TRIGGER_TOKEN: token } }),
    stdio: ['ignore', stdout, 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  closeSync(stdout);
  await vi.waitFor(() => expect(service.writes().length).toBeGreaterThan(0), { timeout: 20_000 });
  for (let passes = 0; passes < 3; passes += 1) {
    const before = service.seen.length;
    const headers = { authorization: `Bearer ${token}` };
    const asked = await fetch(`http://127.0.0.1:${port}/api/reconcile`, { method: 'POST', headers });
    expect(asked.status).toBe(202);
    await vi.waitFor(() => expect(service.seen.length).toBeGreaterThan(before), { timeout: 5_000 });
  }
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).ok).toBe(true);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
