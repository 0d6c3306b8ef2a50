import { expect, it } from 'vitest';
import { git } from '../source/checkout.ts';
import { barriersOf, expectNoSideways, visit } from './browser.ts';
import { started } from './started.ts';

const phone = { viewport: { width: 390, height: 844 } };

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
  expect(await commit.innerText()).toContain(git(cwd, 'rev-parse', 'HEAD').slice(0, 10));
  await expectNoSideways(page);
  expect(await barriersOf(page)).toEqual([]);
  const asked = page.waitForRequest((request) => request.url() === address);
  await commit.focus();
  await page.keyboard.press('Enter');
  expect((await asked).isNavigationRequest()).toBe(true);
});
