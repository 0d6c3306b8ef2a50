import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const tidy = { DNS_SYNC_SURPLUS: 'park', DNS_SYNC_ADOPT: 'true' };

describe('apply on the examples', () => {
  it('leaves no difference if surplus may be parked', async () => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: { ...service.env, ...tidy } };
    const applied = await run(['apply', '--yes'], launch);
    expect(applied.code).toBe(0);
    expect(applied.stderr).toMatch(
      /^dns-template-sync: no saved state for this client yet .*\n(?:applied: .*\n){9}$/,
    );
    expect(applied.stdout).toContain('9 applied');
    const planned = await run(['plan', '--detailed-exitcode'], launch);
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(planned.stdout).toContain('everything in sync: 31 records in 5 templates');
    const written = service.writes().length;
    expect(await run(['apply', '--yes', '--detailed-exitcode'], launch)).toMatchObject({ code: 0 });
    expect(service.writes()).toHaveLength(written);
  });

  it.each(['no-such-directory/report.json', 'templates'])(
    'writes nothing if its report cannot be written, in %s',
    async (out) => {
      const service = await startService();
      const launch = { cwd: await workplace(), env: service.env };
      const { code, stderr } = await run(['apply', '--yes', '--out', out], launch);
      expect(code).toBe(1);
      expect(stderr).toMatch(`dns-template-sync: --out: cannot write ${out} `);
      expect(service.writes()).toEqual([]);
      await run(['apply', 'voice', '--yes', '--out', 'report.txt'], launch);
      expect(await readFile(path.join(launch.cwd, 'report.txt'), 'utf8')).toContain('1 applied');
    },
  );
});

describe('the requirements of apply', () => {
  it.each([
    [[], '--yes'],
    [['--force', '--yes'], '--force'],
    [['--retry', '--yes'], '--retry'],
    [['--accept-loss', '--yes'], '--accept-loss'],
    [['--yes', '--lock-timeout', 'soon'], '--lock-timeout'],
    [['--yes', '--plan', 'no-such-file'], '--plan'],
    [['--yes', '--reset'], '--reset'],
  ])('%j: nothing is written, and the message names %s', async (args, name) => {
    const service = await startService();
    const { code, stdout, stderr } = await run(['apply', ...args], {
      cwd: await workplace(),
      env: service.env,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(name);
    expect(service.writes()).toEqual([]);
  });
});
