import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { built } from '../built.ts';
import { workplace } from '../e2e/program.ts';

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
    const full = await open('/dev/full', 'w');
    onTestFinished(() => full.close());
    const child = await startPlan([], full.fd);
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
