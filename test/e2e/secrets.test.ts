import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Answer } from '../wire/scripted-server.ts';
import { reportOf, run, start, textsBelow, workplace, type Ended, type Launch } from './program.ts';
import { clientToken, environment, startService, userToken } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Both tokens as something on the way may have spelled them. */
const spellings = [userToken, clientToken].flatMap((token) => [
  token,
  encodeURIComponent(token),
  new URLSearchParams({ '': token }).toString().slice(1),
  JSON.stringify(token).slice(1, -1),
  token.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  Buffer.from(token).toString('base64'),
  Buffer.from(token).toString('hex'),
]);

const expectNoToken = (content: Buffer | string, where: string): void => {
  const bytes = Buffer.from(content);
  const found = spellings.filter((spelling) => bytes.includes(spelling));
  expect({ where, found }).toEqual({ where, found: [] });
};

/** Whatever the program leaves behind below its working directory, and what it said. */
const expectClean = async (ended: readonly Ended[], { cwd }: Launch): Promise<void> => {
  for (const { stdout, stderr } of ended) {
    expectNoToken(stdout, 'stdout');
    expectNoToken(stderr, 'stderr');
  }
  for (const [file, text] of Object.entries(await textsBelow(cwd)))
    if (!path.basename(file).startsWith('secret-')) expectNoToken(Buffer.from(text, 'latin1'), file);
};

const daemon = async (launch: Launch): Promise<Ended> => {
  const program = start(['run', '--listen', 'off'], launch);
  await Promise.race([program.event('pass.finished'), program.ended]);
  program.signal('SIGTERM');
  return program.ended;
};

/** Commands that read and write, with all that the log can tell. */
const everything = async (env: Readonly<Record<string, string>>, cwd: string): Promise<readonly Ended[]> => {
  const launch = {
    cwd,
    env: { LOG_LEVEL: 'trace', DNS_SYNC_SURPLUS: 'park', DNS_SYNC_ADOPT: 'true', ...env },
  };
  const reads = await Promise.all([
    run(['plan'], launch),
    run(['get', 'dns-templates', '--format', 'json'], launch),
  ]);
  const applied = await run(['apply', '--yes', '--format', 'json', '--out', 'report.json'], launch);
  return [...reads, applied, await daemon(launch), await run(['history'], launch)];
};

/** What came with the request: all of it, tokens too. */
const echoOf: (status: number, type: string, spell?: (text: string) => string) => Answer =
  (status, type, spell = (text) => text) =>
  (response, { method, path: asked, query, body, headers }) => {
    const decoded = decodeURIComponent(`${query}${body}`.replaceAll('+', ' '));
    const all = `${method} ${asked}?${query}\n${JSON.stringify(headers)}\n\n${body}\n${decoded}`;
    response.writeHead(status, { 'content-type': type }).end(spell(all));
  };

const asPage = (text: string): string =>
  `<html><title>Error</title><pre>${text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}</pre></html>`;

const asRecords = (text: string): string =>
  JSON.stringify([
    {
      id: 31,
      name: 'voice',
      publicly_available: false,
      subdomains: 0,
      dns_template_records: [{ id: 1, type: 'TXT', name: 'echo', content: text, priority: null, ttl: 60 }],
    },
  ]);

describe('no token is in any output or file', () => {
  it.each<[string, Answer | null]>([
    ['of a service that works', null],
    ['of one that echoes it as a record', echoOf(200, 'application/json', asRecords)],
  ])('%s', async (_, answer) => {
    const service = await startService(() => answer);
    const cwd = await workplace();
    await expectClean(await everything(service.env, cwd), { cwd });
    expect(service.seen.length).toBeGreaterThan(0);
  });

  it.each<[string, Answer]>([
    ['of one that shows the request on an HTML error page', echoOf(500, 'text/html', asPage)],
    ['of one that does so with a refusal', echoOf(401, 'text/html', asPage)],
    ['of one that echoes the request as its answer', echoOf(200, 'text/plain')],
    [
      'of one that redirects to the same address',
      (response, { path: asked, query }) => response.writeHead(302, { location: `${asked}?${query}` }).end(),
    ],
  ])('%s, in the log and report of a pass', async (_, answer) => {
    const service = await startService(() => answer);
    const cwd = await workplace();
    const launch = { cwd, env: { LOG_LEVEL: 'trace', ...service.env } };
    await expectClean(
      [await run(['apply', '--yes', '--out', 'report.json', '--format', 'json'], launch)],
      launch,
    );
    expect(service.seen.length).toBeGreaterThan(0);
  });

  it('of a client whose writes alone are echoed', async () => {
    const service = await startService(({ method }) =>
      method === 'PUT' ? echoOf(422, 'text/html', asPage) : null,
    );
    const cwd = await workplace();
    await expectClean(await everything(service.env, cwd), { cwd });
    expect(service.writes().length).toBeGreaterThan(0);
  });

  it.each(['json', 'markdown', 'html'])('of a record that repeats it, in %s', async (format) => {
    const service = await startService(() => echoOf(200, 'application/json', asRecords));
    const cwd = await workplace();
    const args = ['plan', 'voice', '--format', format];
    const ended = await run(args, { cwd, env: service.env });
    expect(ended.stdout).toMatch(/(\[|&#91;)secret/);
    await expectClean([ended], { cwd });
  });

  it('of a parked record, in its saved state', async () => {
    const service = await startService();
    const content = `${encodeURIComponent(userToken)} ${Buffer.from(clientToken).toString('base64')} ${clientToken}`;
    await service.change('add-template', { name: 'web', records: [{ type: 'TXT', name: 'echo', content }] });
    const cwd = await workplace({ withExamples: false });
    const keys = 'surplus: park\nadopt: true\nlimits: {maxChangePercent: 100}';
    await mkdir(path.join(cwd, 'templates'));
    await writeFile(path.join(cwd, 'templates', 'web.yaml'), `template: web\n${keys}\nrecords: []\n`);
    const launch = { cwd, env: service.env };
    const applied = await run(['apply', '--yes'], launch);
    expect(service.writes()).toHaveLength(1);
    const past = await run(['history', '--format', 'json'], launch);
    expect(JSON.parse(past.stdout)).toMatchObject([
      { action: 'park', before: { name: 'echo', content: '[secret] [secret] [secret]' } },
    ]);
    await expectClean([applied, past], { cwd });
  });

  it.each(['plan', 'get', 'run'])(
    'that is one of our words does not damage the output of %s',
    async (command) => {
      const service = await startService();
      const cwd = await workplace();
      const tokens = { DNS_SYNC_USER_TOKEN: 'update', DNS_SYNC_CLIENT_TOKEN: 'standard-web' };
      const env = { ...service.env, ...tokens, DNS_SYNC_DRY_RUN: 'true' };
      if (command === 'run') {
        const lines = (await daemon({ cwd, env })).stdout.trimEnd().split('\n');
        expect(lines.map((line) => JSON.parse(line))).toContainEqual(
          expect.objectContaining({
            event: 'drift.report',
            template: '[secret]',
            status: expect.any(String),
          }),
        );
        return;
      }
      const what = command === 'plan' ? ['plan'] : ['get', 'dns-templates'];
      const { code, stdout } = await run([...what, '--format', 'json'], { cwd, env });
      expect(code).toBe(0);
      expect(stdout).toContain('"[secret]"');
      if (command === 'plan') expect(() => reportOf(stdout)).not.toThrow();
      else expect(JSON.parse(stdout)[0]).toHaveProperty('dns_template_records');
    },
  );

  it('of an unreachable service', async () => {
    const cwd = await workplace();
    const ended = await everything(environment('http://127.0.0.1:1/api/v1'), cwd);
    expect(ended.map(({ code }) => code)).toEqual([1, 1, 1, 0, 0]);
    await expectClean(ended, { cwd });
  });

  it('in a base URL', async () => {
    const urls = [
      `https://${encodeURIComponent(userToken)}:x@127.0.0.1:1/api/v1`,
      `http://127.0.0.1:1/api/v1?user_token=${encodeURIComponent(userToken)}`,
      `not an address ${userToken} ${clientToken}`,
      `http://${clientToken}.invalid:99999/`,
    ];
    const cwd = await workplace();
    const ended = await Promise.all([
      ...urls.map((url) => run(['plan'], { cwd, env: environment(url) })),
      daemon({ cwd, env: environment(urls[0]!) }),
    ]);
    expect(ended.map(({ code }) => code)).toEqual([1, 1, 1, 1, 1]);
    await expectClean(ended, { cwd });
  });

  it('of the settings, with any error in them', async () => {
    const cwd = await workplace();
    await writeFile(
      path.join(cwd, 'dns-template-sync.yaml'),
      `userToken: ${JSON.stringify(userToken)}\nclients:\n  a: {clientToken: ${JSON.stringify(clientToken)}}\n`,
    );
    const env = { ...environment('http://127.0.0.1:1/api/v1'), DNS_SYNC_USER_TOKEN_FILE: 'secret-user' };
    const ended = await run(['plan'], { cwd, env });
    expect(ended.code).toBe(1);
    expectNoToken(ended.stderr, 'stderr');
  });
});

describe('tokens in files', () => {
  it('are read without the newline at their end, and are in no output either', async () => {
    const service = await startService(({ path: asked }) =>
      asked.endsWith('/accounts') ? echoOf(500, 'text/plain') : null,
    );
    const cwd = await workplace();
    await writeFile(path.join(cwd, 'secret-user'), `${userToken}\n`);
    await writeFile(path.join(cwd, 'secret-client'), `${clientToken}\r\n`);
    const ended = await everything(
      {
        DNS_SYNC_BASE_URL: service.url,
        DNS_SYNC_USER_TOKEN_FILE: 'secret-user',
        DNS_SYNC_CLIENT_TOKEN_FILE: path.join(cwd, 'secret-client'),
      },
      cwd,
    );
    await expectClean(ended, { cwd });
    const sent = new URLSearchParams(service.seen[0]?.query);
    expect([sent.get('user_token'), sent.get('client_token')]).toEqual([userToken, clientToken]);
  });

  it('are read again before each pass', async () => {
    const service = await startService();
    const cwd = await workplace();
    await writeFile(path.join(cwd, 'secret-user'), 'the first token');
    const { DNS_SYNC_USER_TOKEN: _, ...others } = service.env;
    const env = { ...others, DNS_SYNC_USER_TOKEN_FILE: 'secret-user' };
    const program = start(['run', '--listen', 'off'], { cwd, env });
    await program.event('pass.finished');
    const before = service.seen.length;
    await writeFile(path.join(cwd, 'secret-user'), 'the second token');
    await writeFile(path.join(cwd, 'templates', 'more.yaml'), 'template: no-such\nrecords: []\n');
    await program.event('pass.finished');
    const used = (index: number) => new URLSearchParams(service.seen[index]?.query).get('user_token');
    expect([used(0), used(before)]).toEqual(['the first token', 'the second token']);
  });
});
