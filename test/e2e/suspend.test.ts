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
