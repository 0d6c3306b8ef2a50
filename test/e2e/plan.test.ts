import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { addTemplate, startDaemon } from './daemon.ts';
import { reportOf, run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('plan on the examples', () => {
  it('shows every kind of difference, and writes nothing', async () => {
    const service = await startService();
    const cwd = await workplace();
    const { code, stdout, stderr } = await run(['plan'], { cwd, env: service.env });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^dns-template-sync: planned without saved state: .*\n$/);
    expect(stdout).toContain('2 to add, 4 to change, 3 surplus, 1 blocked');
    expect(stdout).toContain('~ A     www   203.0.113.9 → 203.0.113.10  ttl 3600');
    expect(stdout).toContain('templates/standard-web.yaml:8 · record 171');
    expect(stdout).not.toContain('\u001B');
    expect(service.writes()).toEqual([]);
    expect(service.seen.length).toBeGreaterThan(0);
  });

  it('is a report in the documented form', async () => {
    const service = await startService();
    const cwd = await workplace();
    const { code, stdout } = await run(['plan', '--format', 'json'], { cwd, env: service.env });
    const report = reportOf(stdout);
    expect(code).toBe(0);
    expect(report).toMatchObject({
      trigger: 'command',
      dryRun: true,
      status: 'drifted',
      summary: {
        templates: 5,
        add: 2,
        update: 4,
        park: 0,
        surplus: 3,
        blocked: 1,
        applied: 0,
        subdomains: 4,
      },
    });
    expect(report.templates.find(({ template }) => template === 'standard-web')?.differences).toContainEqual({
      action: 'update',
      recordId: 171,
      current: { type: 'A', name: 'www', content: '203.0.113.9', priority: null, ttl: 3600 },
      desired: { type: 'A', name: 'www', content: '203.0.113.10', priority: null, ttl: 3600 },
      fields: ['content'],
      cause: 'unknown',
      source: { file: 'templates/standard-web.yaml', line: 8, column: 5 },
    });
    expect(service.writes()).toEqual([]);
  });

  it('names the templates that no file describes, which stay at the service', async () => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    const plan = async (...options: string[]) => {
      const { code, stdout } = await run(['plan', ...options], launch);
      return { code, last: stdout.trimEnd().replaceAll('\n', ' ').slice(-116) };
    };
    await run(['apply', '--yes'], launch);
    await rm(path.join(launch.cwd, 'templates/voice.yaml'));
    const trial = await addTemplate(service, 'trial', '192.0.2.1');
    expect(await plan()).toEqual({
      code: 0,
      last: '2 templates at the service have no file (voice, trial); 1 file is gone since (voice); `import` writes files for them',
    });
    const { stdout } = await run(['plan', '--format', 'json'], launch);
    expect(reportOf(stdout)).toMatchObject({
      problems: [],
      unmanaged: [
        { client: 'default', template: 'voice', id: 31, hadFile: true },
        { client: 'default', template: 'trial', id: trial, records: 1, hadFile: false },
      ],
    });
    const strict = await run(['plan', '--strict', '--format', 'json'], launch);
    expect(strict.code).toBe(1);
    expect(reportOf(strict.stdout)).toMatchObject({
      status: 'failed',
      problems: [
        { severity: 'error', check: 'unmanaged', message: expect.stringContaining('(voice, trial)') },
      ],
    });
    expect(await run(['apply', '--strict', '--yes'], launch)).toMatchObject({ code: 1 });
    // The daemon names them, and does not fail for ever.
    const daemon = await startDaemon(['--strict'], launch);
    expect((await daemon.event('pass.finished'))['status']).not.toBe('failed');
    expect(await daemon.json('/api/report')).toMatchObject({
      problems: [],
      unmanaged: [{ template: 'voice' }, { template: 'trial' }],
    });
    // Who asks for one template gets no answer about others.
    expect((await run(['plan', 'redirects', '--strict'], launch)).stdout).not.toContain('no file');
  }, 60_000);

  it('says that others can change the state', async () => {
    const service = await startService();
    const cwd = await workplace();
    const state = path.join(cwd, 'state');
    await mkdir(state);
    await chmod(state, 0o777);
    expect((await run(['plan'], { cwd, env: service.env })).stderr).toContain(`chmod o-w ${state}`);
  });

  it('goes to a file in any format, with an empty stdout', async () => {
    const service = await startService();
    const cwd = await workplace();
    for (const [format, beginning] of [
      ['text', 'Causes are unknown'],
      ['json', '{\n  "schema": "dns-template-sync/report/v1"'],
      ['markdown', '#'],
      ['html', '<!doctype html>'],
    ] as const) {
      const args = ['plan', '--format', format, '--out', 'report'];
      const { code, stdout } = await run(args, { cwd, env: service.env });
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
      const text = await readFile(path.join(cwd, 'report'), 'utf8');
      expect(text.slice(0, beginning.length)).toBe(beginning);
    }
  });

  it('writes to stderr only what was requested', async () => {
    const service = await startService();
    const args = ['plan', 'redirects', '--log-level', 'error'];
    const { stderr } = await run(args, { cwd: await workplace(), env: service.env });
    expect(stderr).toBe('');
  });
});

describe('exit codes of plan', () => {
  it('1 for a name that no file describes, with any other arguments', async () => {
    const service = await startService();
    const args = ['plan', 'voice', 'standard-wep', '--detailed-exitcode'];
    const { code, stdout, stderr } = await run(args, { cwd: await workplace(), env: service.env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      'dns-template-sync: no template file describes standard-wep; did you mean `standard-web`?\n',
    );
  });

  it('1 for a file that is not valid, while the valid ones are planned', async () => {
    const service = await startService();
    const cwd = await workplace();
    await writeFile(path.join(cwd, 'templates', 'voice.yaml'), 'template: voice\nrecords:\n  - {type: A}\n');
    const { code, stdout } = await run(['plan'], { cwd, env: service.env });
    expect(code).toBe(1);
    expect(stdout).toContain('‖ voice  held  templates/voice.yaml');
    expect(stdout).toMatch(/^templates\/voice\.yaml:3:5: error: .* \[[a-z-]+\]$/m);
    expect(stdout).toContain('~ A     www   203.0.113.9 → 203.0.113.10');
    expect(service.writes()).toEqual([]);
  });

  it('1 for a misspelled name, also showing an unreadable file, which may be the one', async () => {
    const service = await startService();
    const cwd = await workplace();
    await writeFile(path.join(cwd, 'templates', 'voice.yaml'), 'template: [\n');
    const { code, stderr } = await run(['plan', 'voice'], { cwd, env: service.env });
    expect(code).toBe(1);
    expect(stderr).toContain('no template file describes voice');
    expect(stderr).toMatch(/templates\/voice\.yaml:\d+:\d+: error: /);
  });
});

describe('settings of plan', () => {
  it('are all reported as missing at once', async () => {
    const { code, stdout, stderr } = await run(['plan'], { cwd: await workplace() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const name of ['DNS_SYNC_BASE_URL', 'DNS_SYNC_USER_TOKEN', 'DNS_SYNC_CLIENT_TOKEN'])
      expect(stderr).toContain(name);
  });
});
