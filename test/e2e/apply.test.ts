import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { reportOf, run, workplace } from './program.ts';
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

  it('writes nothing if dryRun is set, and says why', async () => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: { ...service.env, DNS_SYNC_DRY_RUN: 'true' } };
    const { code, stderr } = await run(['apply', '--yes'], launch);
    expect(code).toBe(1);
    expect(stderr).toContain('dryRun is set for client default, so apply writes nothing');
    expect(service.writes()).toEqual([]);
  });

  it('leaves surplus if it is only reported', async () => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    const { code, stdout } = await run(['apply', '--yes', '--format', 'json'], launch);
    const report = reportOf(stdout);
    expect(code).toBe(0);
    expect(report).toMatchObject({
      dryRun: false,
      status: 'drifted',
      summary: { add: 0, update: 0, surplus: 3, blocked: 1, applied: 6 },
    });
    expect(service.writes()).toHaveLength(6);
    expect((await service.records(17)).find(({ id }) => id === 171)?.content).toBe('203.0.113.10');
    expect(await run(['plan', '--detailed-exitcode'], launch)).toMatchObject({ code: 2 });
    expect(await run(['apply', '--yes', '--detailed-exitcode'], launch)).toMatchObject({ code: 2 });
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

  it('writes the named templates and no others', async () => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    expect(await run(['apply', 'voice', '--yes', '--detailed-exitcode'], launch)).toMatchObject({ code: 0 });
    expect(service.writes().map(({ path: written }) => written)).toEqual([
      '/api/v1/dns_templates/31/update_record',
    ]);
  });

  it('writes nothing if one of the names is misspelled', async () => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    const { code, stdout, stderr } = await run(['apply', 'voice', 'standard-wep', '--yes'], launch);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('no template file describes standard-wep');
    expect(service.writes()).toEqual([]);
  });

  it('writes valid templates, and ends with 1 for invalid ones', async () => {
    const service = await startService();
    const cwd = await workplace();
    await writeFile(path.join(cwd, 'templates', 'voice.yaml'), 'template: voice\nrecords:\n  - {type: A}\n');
    const { code, stdout } = await run(['apply', '--yes'], { cwd, env: service.env });
    expect(code).toBe(1);
    expect(stdout).toContain('5 applied');
    expect(service.writes().map(({ path: written }) => written)).not.toContainEqual(
      expect.stringContaining('/31/'),
    );
  });

  it.each(['markdown', 'html'])('writes its report in %s to a file', async (format) => {
    const service = await startService();
    const cwd = await workplace();
    const args = ['apply', '--yes', '--format', format, '--out', 'report'];
    expect(await run(args, { cwd, env: service.env })).toMatchObject({ code: 0, stdout: '' });
    expect(await readFile(path.join(cwd, 'report'), 'utf8')).toMatch(/6 applied/);
  });
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
