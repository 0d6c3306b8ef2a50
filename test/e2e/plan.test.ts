import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { addTemplate, startDaemon } from './daemon.ts';
import { reportOf, run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('plan on the examples', () => {
  it('names the templates that no file describes, which stay at the service', async () => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    const plan = async (...options: string[]) => {
      const { code, stdout } = await run(['plan', ...options], launch);
      return { code, last: stdout.trimEnd().replaceAll('\n', ' ').slice(-124) };
    };
    await run(['apply', '--yes'], launch);
    await rm(path.join(launch.cwd, 'templates/voice.yaml'));
    const trial = await addTemplate(service, 'trial', '192.0.2.1');
    expect(await plan()).toEqual({
      code: 0,
      last: '2 templates at the service have no file (voice, whose file is gone; trial): `dns-template-sync import` writes files for them',
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
        {
          severity: 'error',
          check: 'unmanaged',
          message: expect.stringContaining('(voice, whose file is gone; trial)'),
        },
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
