import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { triggerToken } from '../daemon/daemon.ts';
import { workplace } from '../program.ts';
import { freePort } from '../free-port.ts';
import { visit } from './browser.ts';
import { started } from './started.ts';

/** One that is installed, else where `.ci/proxy.sh` has put it. */
const nginx = existsSync('/usr/sbin/nginx')
  ? '/usr/sbin/nginx'
  : path.join(process.env['PROXY'] ?? '', 'usr/sbin/nginx');

/** nginx with the settings that it has by default: only what is below a path goes on, with the Host of the daemon. */
const proxy = async (target: string, below: string): Promise<string> => {
  const [cwd, port] = [await workplace({ withExamples: false }), await freePort()];
  mkdirSync(path.join(cwd, 'logs'));
  await writeFile(
    path.join(cwd, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log logs/error.log;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  server { listen 127.0.0.1:${port}; location ${below} { proxy_pass ${target}; } }
}
`,
  );
  const child = spawn(nginx, ['-p', cwd, '-c', 'nginx.conf'], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}${below}`;
  while ((await fetch(`${url}livez`).catch(() => null))?.ok !== true) {
    if (child.exitCode !== null) throw new Error('nginx ended');
    await setTimeout(20);
  }
  return url;
};

it('under a path of nginx people sign in, see changes, follow links, act and sign out', async () => {
  const tokens = { DNS_SYNC_PAGE_TOKEN: 'the token of the page' };
  const { daemon, url, change } = await started(['--dry-run'], tokens);
  const root = await proxy(url, '/tools/dns/');
  const { page, complaints } = await visit(`${root}templates/standard-web`);
  const signIn = async (token: string, name: string): Promise<void> => {
    await page.getByLabel('Your name').fill(name);
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  await signIn('the token of the page', '');
  await page.locator('#link.live').waitFor();
  expect(page.url()).toBe(`${root}templates/standard-web`);

  await page.getByRole('link', { name: 'Sign in to act' }).click();
  await signIn(triggerToken, 'Anna Example');
  expect(page.url()).toBe(`${root}templates/standard-web`);
  await page.getByRole('button', { name: 'Sync now' }).click();
  await page.getByText('You have asked for a pass.').waitFor();
  await daemon.event('pass.finished', ({ trigger }) => trigger === 'request');

  await page.getByRole('link', { name: '← all templates' }).click();
  expect(page.url()).toBe(root);
  await page.locator('#link.live').waitFor();
  await change('add-record', { dns_template_id: 17, type: 'A', name: 'stray', content: '192.0.2.99' });
  await daemon.pass();
  await page.locator('.rows li', { hasText: 'stray' }).waitFor();
  await page.locator('#filters a', { hasText: 'surplus' }).click();
  expect(page.url()).toBe(`${root}?show=surplus`);
  for (const [name, address] of [
    ['The last writes', 'writes'],
    ['dns-template-sync', ''],
    ['/api/history', 'api/history'],
  ] as const) {
    await page.getByRole('link', { name }).click();
    expect(page.url()).toBe(`${root}${address}`);
  }
  await page.goBack();
  const [cookie] = await page.context().cookies();
  expect(cookie?.path).toBe('/tools/dns');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token', { exact: true }).waitFor();
  expect((await fetch(url, { headers: { cookie: `${cookie?.name}=${cookie?.value}` } })).status).toBe(401);
  expect(complaints.filter((one) => !/401 \(Unauthorized\)|ERR_ABORTED/.test(one))).toEqual([]);
});
