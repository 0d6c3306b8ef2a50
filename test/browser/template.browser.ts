import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { git } from '../source/checkout.ts';
import { barriersOf, expectNoSideways, visit } from './browser.ts';
import { started } from './started.ts';

const phone = { viewport: { width: 390, height: 844 } };

it('shows the YAML that accepts what the service has, and whoever pastes it is in sync', async () => {
  const { cwd, daemon, url, change, idOf } = await started(['--dry-run']);
  await change('edit-record', { record_id: await idOf('A', 'www'), content: '192.0.2.7' });
  await daemon.pass();
  const { page, complaints } = await visit(`${url}templates/standard-web`, phone);
  const entry = page.locator('.rows > li', { hasText: '192.0.2.7' });
  await entry.locator('summary').focus();
  await page.keyboard.press('Enter');
  const words = await entry.innerText();
  const [, file = '', line = ''] = /To accept it, in (\S+):(\d+) replace www A \S+ by/.exec(words) ?? [];
  const yaml = await entry.locator('pre').innerText();
  await expectNoSideways(page);
  expect(await barriersOf(page)).toEqual([]);

  const lines = (await readFile(path.join(cwd, file), 'utf8')).split('\n');
  await writeFile(path.join(cwd, file), lines.with(Number(line) - 1, yaml).join('\n'));
  await daemon.event('pass.finished', ({ trigger }) => trigger === 'file-change');
  await entry.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

it('links the commit of a file to where people can see it', async () => {
  const link = 'https://git.example.net/dns/commit/';
  const { cwd, url } = await started(['--dry-run'], { DNS_SYNC_COMMIT_URL: `${link}{sha}` }, (folder) => {
    git(folder, 'init', '--quiet', '--initial-branch=main');
    git(folder, 'add', 'templates');
    git(folder, 'commit', '--quiet', '-m', 'Move the shop');
  });
  const { page } = await visit(`${url}templates/standard-web`, phone);
  const address = `${link}${git(cwd, 'rev-parse', 'HEAD')}`;
  const commit = page.locator(`a[href="${address}"]`);
  expect(await commit.innerText()).toBe(git(cwd, 'rev-parse', 'HEAD').slice(0, 10));
  await expectNoSideways(page);
  expect(await barriersOf(page)).toEqual([]);
  const asked = page.waitForRequest((request) => request.url() === address);
  await commit.focus();
  await page.keyboard.press('Enter');
  expect((await asked).isNavigationRequest()).toBe(true);
});
