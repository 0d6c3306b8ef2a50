import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Answer } from '../wire/scripted-server.ts';
import { reportOf, run, start, textsBelow, workplace, type Ended, type Launch } from '../program.ts';
import { clientToken, startService, userToken, type Meddling } from '../service.ts';

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

const failing: Readonly<Record<string, Answer>> = {
  'one that shows the request on an HTML error page': echoOf(500, 'text/html', asPage),
  'one that does so with a refusal': echoOf(401, 'text/html', asPage),
  'one that echoes the request as its answer': echoOf(200, 'text/plain'),
  'one that redirects to the same address': (response, { path: asked, query }) =>
    response.writeHead(302, { location: `${asked}?${query}` }).end(),
};

describe('no token is in any output or file', () => {
  it.each<[string, Meddling]>([
    ['a service that works', () => null],
    ['one that echoes it as a record', () => echoOf(200, 'application/json', asRecords)],
    [
      'one that echoes writes alone',
      ({ method }) => (method === 'PUT' ? echoOf(422, 'text/html', asPage) : null),
    ],
  ])('of %s', async (_, meddle) => {
    const service = await startService(meddle);
    const cwd = await workplace();
    await expectClean(await everything(service.env, cwd), { cwd });
    expect(service.seen.length).toBeGreaterThan(0);
  });

  it.each(Object.entries(failing))('of %s, in the log and report of a pass', async (_, answer) => {
    const service = await startService(() => answer);
    const launch = { cwd: await workplace(), env: { LOG_LEVEL: 'trace', ...service.env } };
    const apply = ['apply', '--yes', '--out', 'report.json', '--format', 'json'];
    await expectClean([await run(apply, launch)], launch);
    expect(service.seen.length).toBeGreaterThan(0);
  });

  it.each(['json', 'markdown', 'html'])('of a record that repeats it, in %s', async (format) => {
    const service = await startService(() => echoOf(200, 'application/json', asRecords));
    const launch = { cwd: await workplace(), env: service.env };
    const ended = await run(['plan', 'voice', '--format', format], launch);
    expect(ended.stdout).toMatch(/(\[|&#91;)secret/);
    await expectClean([ended], launch);
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

  it('that is one of our words damages no report', async () => {
    const service = await startService();
    const tokens = { DNS_SYNC_USER_TOKEN: 'update', DNS_SYNC_CLIENT_TOKEN: 'standard-web' };
    const launch = { cwd: await workplace(), env: { ...service.env, ...tokens } };
    const { stdout } = await run(['plan', '--format', 'json'], launch);
    expect(reportOf(stdout).templates.map(({ template }) => template)).toContain('[secret]');
  });
});
