import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { built } from '../built.ts';
import { run, workplace } from './program.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('the command line', () => {
  it('shows every command in the help, and its version', async () => {
    const cwd = await workplace({ withExamples: false });
    const { code, stdout, stderr } = await run(['help'], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of ['run', 'plan', 'apply', 'validate', 'get', 'history', 'sandbox'])
      expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
    expect(await run(['--version'], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it.each([
    [[], 'Usage: dns-template-sync'],
    [['aply'], 'Did you mean apply?'],
    [['plan', '--detailed-exit-code'], 'Did you mean --detailed-exitcode?'],
    [['completion', 'bash', 'zsh'], 'too many arguments'],
  ])('%j ends with 1 and says what is wrong', async (args, message) => {
    const { code, stdout, stderr } = await run(args, { cwd: await workplace() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('defect');
  });

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
