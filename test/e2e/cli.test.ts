import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
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
    [['plan', '--format', 'yaml'], 'Allowed choices are text, json, markdown, html'],
    [['validate', 'voice'], 'too many arguments'],
    [['run', '--schedule', 'hourly', '--sandbox'], '--schedule: expected a cron expression'],
    [['run', '--timezone', 'Mars/Olympus', '--sandbox'], '--timezone: expected an IANA time zone'],
    [['plan', '--var', 'web', '--sandbox'], '--var: expected NAME=VALUE'],
    [['plan', '--client', 'acme', '--sandbox'], '--client: there is no client acme, only default'],
    [['plan', '--config', 'no-such.yaml', '--sandbox'], 'no-such.yaml: cannot read the config file'],
    [['plan', '--log-level', 'loud', '--sandbox'], '--log-level: expected one of trace'],
  ])('%j ends with 1 and says what is wrong', async (args, message) => {
    const { code, stdout, stderr } = await run(args, { cwd: await workplace() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('defect');
  });

  it('ends quietly when the reader of its output has gone', async () => {
    const cwd = await workplace();
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, [built('main.js'), 'plan', '--sandbox'], {
      cwd,
      env: { PATH, HOME: cwd },
    });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (text: Buffer) => void (stderr += text.toString()));
    const [code] = await once(child, 'close');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
