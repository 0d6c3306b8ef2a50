import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { triggerToken } from '../e2e/daemon.ts';
import { visit } from './browser.ts';
import { started } from './started.ts';

/** A proxy as nginx is by default: only what is below its path goes on, with the Host of the daemon, slashes decoded. */
const proxy = async (target: string, path: string): Promise<string> => {
  const { host, hostname, port } = new URL(target);
  const server = createServer((asked, answer) => {
    const url = asked.url ?? '';
    if (!url.startsWith(path)) return void answer.writeHead(404).end('not of the daemon');
    const onward = { path: `/${url.slice(path.length).replaceAll(/%2f/gi, '/')}`, method: asked.method };
    const passed = request({ hostname, port, ...onward, headers: { ...asked.headers, host } }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
      answer.once('close', () => found.destroy());
    });
    asked.pipe(passed.on('error', () => answer.destroy()));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
};

it('under a path of a proxy people sign in, see changes, follow links, act and sign out', async () => {
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
  await page.getByText('The pass that was asked for has ended').waitFor();
  await daemon.event('pass.finished', ({ trigger }) => trigger === 'request');

  await page.getByRole('link', { name: '← all templates' }).click();
  expect(page.url()).toBe(root);
  await page.locator('#link.live').waitFor();
  await change('add-record', { dns_template_id: 17, type: 'A', name: 'stray', content: '192.0.2.99' });
  await daemon.pass();
  await page.locator('.rows li', { hasText: 'stray' }).waitFor();
  await page.locator('#filters a', { hasText: 'surplus' }).click();
  expect(page.url()).toBe(`${root}?show=surplus`);
  for (const [name, path] of [
    ['The last writes', 'writes'],
    ['dns-template-sync', ''],
    ['/api/history', 'api/history'],
  ] as const) {
    await page.getByRole('link', { name }).click();
    expect(page.url()).toBe(`${root}${path}`);
  }
  await page.goBack();
  const [cookie] = await page.context().cookies();
  expect(cookie?.path).toBe('/tools/dns');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token', { exact: true }).waitFor();
  expect((await fetch(url, { headers: { cookie: `${cookie?.name}=${cookie?.value}` } })).status).toBe(401);
  expect(complaints.filter((one) => !/401 \(Unauthorized\)|ERR_ABORTED/.test(one))).toEqual([]);
});
