import { userInfo } from 'node:os';
import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, describing, startDaemon, triggerToken } from './daemon.ts';
import { run, workplace, type Launch } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A template at the service, and the file that describes it. */
const place = async () => {
  const service = await startService();
  await addTemplate(service, 'web', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  await writeBelow(cwd, 'templates/web.yaml', describing('web', '192.0.2.1'));
  const launch: Launch = { cwd, env: service.env };
  return { service, launch };
};

it('needs no service, for a template or for its client', async () => {
  const { launch: near } = await place();
  const launch: Launch = { ...near, env: { ...near.env, DNS_SYNC_BASE_URL: 'http://127.0.0.1:1/api/v1' } };
  const alone = await run(['suspend', 'web', '--reason', 'r'], launch);
  expect(alone.stdout).toMatch(/^web: suspended by .+: r\n$/);
  const whole = await run(['suspend', '--client', 'default', '--reason', 'r'], launch);
  expect(whole.stdout).toMatch(/^client default: suspended by .+: r\n$/);
});

it('resume says that the client is still suspended, and by whom', async () => {
  const { launch } = await place();
  await run(['suspend', '--client', 'default', '--reason', 'an audit'], launch);
  const still = /web: client default is still suspended by .+: an audit\n$/;
  expect((await run(['resume', 'web'], launch)).stdout).toMatch(new RegExp(`^${still.source}`));
  await run(['suspend', 'web', '--reason', 'r'], launch);
  expect((await run(['resume', 'web'], launch)).stdout).toMatch(
    new RegExp(`^web: resumed; .+\n${still.source}`),
  );
});

it('a token in a reason is refused, and neither saved nor printed', async () => {
  const { launch, service } = await place();
  for (const token of [service.env['DNS_SYNC_USER_TOKEN']!, service.env['DNS_SYNC_CLIENT_TOKEN']!]) {
    const refused = await run(['suspend', 'web', '--reason', `with ${token}`], launch);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('--reason: it holds a token or another secret');
    expect(refused.stderr).not.toContain(token);
  }
  expect((await run(['resume', 'web'], launch)).stdout).toBe('web: was not suspended\n');
});

it('a reason has a limit, as on the page', async () => {
  const { launch } = await place();
  const suspend = (length: number) => run(['suspend', 'web', '--reason', 'r'.repeat(length)], launch);
  expect((await suspend(201)).stderr).toContain('--reason: it is longer than 200 characters');
  expect((await suspend(200)).code).toBe(0);
});

it('somebody who gives the name of a user on the page does not replace what that user has suspended', async () => {
  const { launch } = await place();
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

it('what lacks a reason, a template or a length is refused', async () => {
  const { launch } = await place();
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
