import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { startOnTerminal } from '../process.ts';
import { workplace } from '../program.ts';

vi.setConfig({ testTimeout: 30_000 });

/** What `npm start` runs. */
const script = fileURLToPath(new URL('../../.scripts/start.mjs', import.meta.url));
const ctrlC = '\u0003';
const env = { DNS_SYNC_LISTEN: 'off' };

describe('npm start on a terminal', () => {
  it('prints the log in words, and ends with 0 at Ctrl-C', async () => {
    const program = startOnTerminal([], { cwd: await workplace(), env }, script);
    await program.says('pass finished: in-sync, 5 templates, 31 in sync, applied 9');
    program.type(ctrlC);
    const { code, stdout } = await program.ended;
    expect(code).toBe(0);
    expect(stdout).toContain(
      'update standard-web #171: www A 203.0.113.9 ttl 3600 → www A 203.0.113.10 ttl 3600',
    );
    expect(stdout).toContain('daemon stopped');
    expect(stdout).not.toContain('{"level"');
  });

  it('ends with the exit code of a daemon that cannot start', async () => {
    const launch = { cwd: await workplace(), env };
    const { code, stdout } = await startOnTerminal(['--schedule', '*/90 * * * *'], launch, script).ended;
    expect(code).toBe(1);
    expect(stdout).toContain('minutes from 0 to 59, not "*/90"');
  });
});

describe('npm start elsewhere', () => {
  it('prints one JSON object a line, and ends with the exit code of the daemon', async () => {
    const cwd = await workplace();
    const command = promisify(execFile)(process.execPath, [script], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: cwd, ...env },
    });
    let said = '';
    command.child.stdout?.on('data', (text: string) => {
      const isNew = !said.includes('"pass.finished"');
      said += text;
      // A second signal would end it at once.
      if (isNew && said.includes('"pass.finished"')) command.child.kill('SIGINT');
    });
    const { stdout } = await command;
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'));
    expect(lines.at(-1)).toContain('"daemon.stopped"');
  });
});
