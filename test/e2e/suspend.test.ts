import { userInfo } from 'node:os';
import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { startDaemon, triggerToken } from './daemon.ts';
import { run, workplace, type Launch, type LogLine } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

const fileOf = (...records: readonly string[]): string =>
  ['template: web', 'records:', ...records.map((record) => `  - { ${record} }`), ''].join('\n');

const apex = 'type: A, content: 192.0.2.1';

/** A template in sync with its file, and then an edit of that. */
const place = async ({ isManaged = true } = {}) => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  const edit = (...records: readonly string[]): Promise<void> =>
    writeBelow(cwd, 'templates/web.yaml', fileOf(apex, ...records));
  await edit();
  const launch: Launch = { cwd, env: service.env };
  const { id } = (await service.change('add-template', {
    name: 'web',
    records: [{ type: 'A', content: '192.0.2.1' }],
  })) as { id: number };
  if (isManaged) expect(await run(['apply', '--yes'], launch)).toMatchObject({ code: 0 });
  const namesNow = async (): Promise<(string | null)[]> =>
    (await service.records(id)).map(({ name }) => name).toSorted();
  return { service, launch, edit, namesNow };
};

const www = 'type: A, name: www, content: 192.0.2.2';

it('a template that the service cannot be asked for is suspended with its client only', async () => {
  const { launch: near } = await place({ isManaged: false });
  const launch: Launch = { ...near, env: { ...near.env, DNS_SYNC_BASE_URL: 'http://127.0.0.1:1/api/v1' } };
  const alone = await run(['suspend', 'web', '--reason', 'r'], launch);
  expect(alone).toMatchObject({ code: 1, stdout: '' });
  expect(alone.stderr).toContain('web may get another name, so its id is needed');
  const whole = await run(['suspend', '--client', 'default', '--reason', 'r'], launch);
  expect(whole.stdout).toMatch(/^client default: suspended by .+: r\n$/);
});

it('resume says that the client is still suspended, and by whom', async () => {
  const { launch } = await place({ isManaged: false });
  await run(['suspend', '--client', 'default', '--reason', 'an audit'], launch);
  const still = /web: client default is still suspended by .+: an audit\n$/;
  expect((await run(['resume', 'web'], launch)).stdout).toMatch(new RegExp(`^${still.source}`));
  await run(['suspend', 'web', '--reason', 'r'], launch);
  expect((await run(['resume', 'web'], launch)).stdout).toMatch(
    new RegExp(`^web: resumed; .+\n${still.source}`),
  );
});

it('a token in a reason is refused, and neither saved nor printed', async () => {
  const { launch, service } = await place({ isManaged: false });
  for (const token of [service.env['DNS_SYNC_USER_TOKEN']!, service.env['DNS_SYNC_CLIENT_TOKEN']!]) {
    const refused = await run(['suspend', 'web', '--reason', `with ${token}`], launch);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('--reason: it holds a token or another secret');
    expect(refused.stderr).not.toContain(token);
  }
  expect((await run(['resume', 'web'], launch)).stdout).toBe('web: was not suspended\n');
});

it('a reason has a limit, as on the page', async () => {
  const { launch } = await place({ isManaged: false });
  const suspend = (length: number) => run(['suspend', 'web', '--reason', 'r'.repeat(length)], launch);
  expect((await suspend(201)).stderr).toContain('--reason: it is longer than 200 characters');
  expect((await suspend(200)).code).toBe(0);
});

it('somebody who gives the name of a user on the page does not replace what that user has suspended', async () => {
  const { launch } = await place({ isManaged: false });
  const daemon = await startDaemon([], launch);
  await daemon.event('pass.finished');
  await run(['suspend', 'web', '--reason', 'an audit'], launch);
  const post = (path: string, fields: Readonly<Record<string, string>>, cookie = '') =>
    daemon.ask(path, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'sec-fetch-site': 'same-origin', cookie },
      body: new URLSearchParams(fields),
    });
  const name = userInfo().username;
  const signedIn = await post('/sign-in', { token: triggerToken, name });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const target = { client: 'default', template: 'web', reason: 'a lark', duration: '1h' };
  expect((await post('/act/suspend', target, cookie)).status).toBe(303);
  const { stdout } = await run(['resume', 'web'], launch);
  expect(stdout).toContain(`web: resumed; ${name} had suspended it: an audit\n`);
  expect(stdout).toContain(`web: resumed; ${name} (on the page) had suspended it: a lark\n`);
});

const inSync = (line: LogLine): boolean => line['status'] === 'in-sync';

it('a daemon writes again as soon as a suspension has expired', async () => {
  const { launch, edit, namesNow } = await place({ isManaged: false });
  const daemon = await startDaemon([], launch);
  await daemon.event('pass.finished');
  const until = Date.now() + 2_000;
  await run(['suspend', 'web', '--for', '2s', '--reason', 'an audit'], launch);
  await edit(www);
  // On a slow machine the time may be over before the file is read.
  const { time } = await daemon.event('change.applied');
  expect(Date.parse(String(time))).toBeGreaterThanOrEqual(until);
  await daemon.event('pass.finished', inSync);
  expect(await namesNow()).toEqual([null, 'www']);
  expect((await run(['resume', 'web'], launch)).stdout).toBe('web: was not suspended\n');
});

it('what lacks a reason, a template or a length is refused', async () => {
  const { launch } = await place({ isManaged: false });
  for (const [words, message] of [
    [['web'], '--reason: say why'],
    [['wbe', '--reason', 'a'], 'no template is called wbe; did you mean `web`?'],
    [['--reason', 'a'], 'name the templates, or all of a client with --client NAME'],
    [['web', '--reason', 'a', '--for', 'soon'], '--for: expected a duration'],
    [['web', '--reason', 'a', '--for', '999999999d'], '1000d at most'],
  ] as const) {
    const refused = await run(['suspend', ...words], launch);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
  }
});
