import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { testClock } from '../clock.ts';
import { run, workplace } from './program.ts';
import { status } from '../wire/scripted-server.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

describe('validate with files', () => {
  const place = async () => {
    const cwd = await workplace();
    const broken = (name: string) =>
      writeFile(path.join(cwd, name), `template: ${name}\nrecords: [{type: AA, content: x}]\n`);
    await broken('templates/bad.yaml');
    await broken('outside.yaml');
    return { cwd };
  };

  it('reports only these', async () => {
    const launch = await place();
    expect(await run(['validate', 'templates/voice.yaml'], launch)).toMatchObject({
      code: 0,
      stdout: '1 template file: 0 errors, 0 warnings\n',
    });
    const { code, stdout } = await run(['validate', 'templates/voice.yaml', 'templates/bad.yaml'], launch);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^templates\/bad\.yaml:2:\d+: error: .*\n2 template files: 1 error, 0 warnings\n$/,
    );
  });

  it('reports also files outside of the directories, and a missing one', async () => {
    const launch = await place();
    expect((await run(['validate', 'outside.yaml'], launch)).stdout).toContain('outside.yaml:2:');
    expect(await run(['validate', 'gone.yaml'], launch)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('gone.yaml'),
    });
  });
});

describe('get dns-template', () => {
  it('shows the records of a template, by its name or id', async () => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    const byName = await run(['get', 'dns-template', 'voice'], launch);
    expect(byName).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ID +NAME +TYPE/) });
    expect(byName.stdout).toContain('_sip._tcp');
    expect(await run(['get', 'dns-template', '31'], launch)).toEqual(byName);
    const json = await run(['get', 'dns-template', 'voice', '--format', 'json'], launch);
    expect(JSON.parse(json.stdout)).toMatchObject({ id: 31, name: 'voice' });
  });

  it('suggests the name that was meant', async () => {
    const service = await startService();
    const { code, stderr } = await run(['get', 'dns-template', 'voise'], {
      cwd: await workplace(),
      env: service.env,
    });
    expect(code).toBe(1);
    expect(stderr).toContain('the service has no template called voise; did you mean `voice`?');
  });
});

describe('apply', () => {
  it('shows each write as it happens, and what it waits for', async () => {
    const service = await startService();
    const env = { ...service.env, DNS_SYNC_SETTLE: '10s' };
    const launch = { cwd: await workplace(), env, clock: testClock() };
    const { code, stderr } = await run(['apply', 'standard-web', '--yes'], launch);
    expect(code).toBe(0);
    expect(stderr).toContain('waiting 10 s: then the service is read once more\n');
    expect(stderr).toMatch(/\napplied: standard-web: update www A 203\.0\.113\.9 .* → www A .*\n/);
  });

  it('says why it repeats a request', async () => {
    let failures = 1;
    const service = await startService(() =>
      (failures -= 1) >= 0 ? (response) => response.writeHead(503, { 'retry-after': '1' }).end('busy') : null,
    );
    const launch = { cwd: await workplace(), env: service.env, clock: testClock() };
    const { stderr } = await run(['apply', 'voice', '--yes'], launch);
    expect(stderr).toMatch(/waiting 1 s: .*503/);
  });
});

it.each([
  ['plan', [], 'GET'],
  ['apply', ['--yes'], 'GET'],
  ['apply', ['--yes'], 'PUT'],
])('%s says how long the service asks to wait', async (command, options, method) => {
  const busy = status(429, 'slow down', { 'retry-after': '7200' });
  const service = await startService((request) => (request.method === method ? busy : null));
  const launch = { cwd: await workplace(), env: service.env, clock: testClock() };
  const { code, stdout } = await run([command, 'voice', ...options], launch);
  expect(code).toBe(1);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'the service answered 429, and asks to wait 2h: slow down',
  );
});
