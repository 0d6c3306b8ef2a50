import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { built } from '../built.ts';
import { freePort } from '../free-port.ts';
import { environmentOf, workplace } from '../e2e/program.ts';
import { startService } from '../e2e/service.ts';

vi.setConfig({ testTimeout: 30_000 });

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
