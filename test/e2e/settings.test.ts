import { readdir } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { run, start, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

it('several problems of the settings are a line each, in reports too', async () => {
  const cwd = await workplace();
  await writeBelow(cwd, 'dns-template-sync.yaml', 'mode: force\nsurplus: shred\n');
  const env = { DNS_SYNC_BASE_URL: 'panel', DNS_SYNC_USER_TOKEN: 'user-token' };
  const known = ['dns-template-sync.yaml:1:7: mode:', 'DNS_SYNC_BASE_URL:', 'clientToken: required'];
  const text = await run(['plan'], { cwd, env });
  for (const one of known) expect(text.stderr).toContain(`\n- ${one}`);
  const { code, stdout } = await run(['plan', '--format', 'markdown'], { cwd, env });
  expect(code).toBe(1);
  expect(stdout).toContain('### dns-template-sync: 4 errors\n');
  expect(stdout.match(/^- error: /gm)).toHaveLength(4);
  const json: unknown = JSON.parse((await run(['plan', '--format', 'json'], { cwd, env })).stdout);
  for (const one of known)
    expect(json).toMatchObject({
      problems: expect.arrayContaining([
        expect.objectContaining({ check: 'settings', message: expect.stringContaining(one) }),
      ]),
    });
});

it.each([
  'DNS_SYNC_TEMPLATES',
  'DNS_SYNC_STATE_DIR',
  'DNS_SYNC_CA',
  'DNS_SYNC_USER_TOKEN_FILE',
  'DNS_SYNC_PROXY',
])('a token in %s is in no output and in no name of a file', async (name) => {
  const token = '8f14e45fceea167a5a36dedd4bea2543';
  const service = await startService();
  const { DNS_SYNC_USER_TOKEN: user, ...env } = service.env;
  const cwd = await workplace();
  const own: Record<string, string> = name.endsWith('_FILE') ? {} : { DNS_SYNC_USER_TOKEN: user ?? '' };
  const launch = { cwd, env: { ...env, ...own, [name]: token } };
  for (const args of [['plan', '--format', 'json'], ['validate'], ['doctor'], ['run', '--listen', 'off']]) {
    const program = start(args, launch);
    const { code, stdout, stderr } = await program.ended;
    expect({ args, code }).toEqual({ args, code: args[0] === 'validate' && code === 0 ? 0 : 1 });
    expect(`${stdout}${stderr}`).not.toContain(token);
  }
  expect(await readdir(cwd)).not.toContain(token);
});

it('a settings file that nobody named is said, and gets no tokens of the environment in CI', async () => {
  const service = await startService();
  const cwd = await workplace();
  const { DNS_SYNC_BASE_URL: baseUrl, ...env } = service.env;
  await writeBelow(cwd, 'dns-template-sync.yaml', `baseUrl: ${baseUrl}\n`);
  const launch = { cwd, env: { ...env, CI: 'true' } };
  const line = 'dns-template-sync: settings from dns-template-sync.yaml, since it is there';
  const refused = await run(['get', 'accounts'], launch);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(line);
  expect(refused.stderr).toContain('dns-template-sync.yaml:1:10: baseUrl: where CI is set');
  expect(service.seen).toEqual([]);
  const named = await run(['get', 'accounts', '--config', 'dns-template-sync.yaml'], launch);
  expect(named).toMatchObject({ code: 0, stderr: '' });
  const elsewhere = await run(['get', 'accounts'], { cwd, env });
  expect(elsewhere.code).toBe(0);
  expect(elsewhere.stderr.match(/^.*settings from.*$/gm)).toHaveLength(1);
});
