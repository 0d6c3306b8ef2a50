import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectUsable, serve, visit } from './browser.ts';
import { started } from './started.ts';

const triggerToken = 'the token that acts';
const env = { DNS_SYNC_TRIGGER_TOKEN: triggerToken };
const phone = { viewport: { width: 390, height: 844 } };

/** Moves the focus on as people do who have no mouse. */
const tabTo = async (page: Page, selector: string): Promise<void> => {
  const isThere = `document.activeElement.matches(${JSON.stringify(selector)})`;
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(isThere)) return;
  }
  expect.fail(`nobody reaches ${selector} with the keyboard`);
};

const press = async (page: Page, selector: string): Promise<void> => {
  await tabTo(page, selector);
  await page.keyboard.press('Enter');
};

const signIn = async (page: Page): Promise<void> => {
  await press(page, 'a[href*="sign-in?"]');
  await page.locator('#name:focus').waitFor();
  await page.keyboard.type('Anna Example');
  await page.keyboard.press('Tab');
  await page.keyboard.type(triggerToken);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sync now' }).waitFor();
};

const outcome = (page: Page, words: string) => page.locator('.acts [role=status]', { hasText: words });

describe.each(['light', 'dark'] as const)(
  'with the keyboard alone, 390 pixels wide, in %s',
  (colorScheme) => {
    it('people sign in, ask for a pass, suspend a template and resume it', async () => {
      const { daemon, url, change, idOf } = await started([], env);
      const { page, complaints } = await visit(url, { ...phone, colorScheme });
      const record = await idOf('A', 'www');
      await signIn(page);
      expect(page.url()).toBe(url);
      await expectUsable(page);

      await change('edit-record', { record_id: record, content: '192.0.2.7' });
      await press(page, '[action$="act/sync"] button');
      await outcome(page, 'You have asked for a pass.').waitFor();
      await expectUsable(page);

      await press(page, 'a[href="templates/standard-web"]');
      await page.waitForURL('**/templates/standard-web');
      await page.locator('#writes ~ .rows li', { hasText: '192.0.2.7' }).waitFor();
      await tabTo(page, '[name=reason]');
      await page.keyboard.type('Moving the shop');
      await tabTo(page, '[name=duration]');
      await page.keyboard.press('ArrowDown');
      await press(page, '[action$="act/suspend"] button');
      await outcome(page, 'You have suspended the template.').waitFor();
      await change('edit-record', { record_id: record, content: '192.0.2.8' });
      await press(page, '[action$="act/sync"] button');
      await outcome(page, 'You have asked for a pass.').waitFor();
      await page.locator('.message', { hasText: 'Moving the shop' }).waitFor();
      expect(await page.locator('main').innerText()).toMatch(
        /suspended[^]*Anna Example \(on the page\)[^]*Moving the shop/,
      );
      await expectUsable(page);

      await press(page, '[action$="act/resume"] button');
      await outcome(page, 'You have resumed the template.').waitFor();
      await page.locator('#writes ~ .rows li', { hasText: '192.0.2.8' }).waitFor();
      await expectUsable(page);

      await press(page, '[action$="sign-out"] button');
      await page.getByRole('link', { name: 'Sign in to act' }).waitFor();
      const taken = daemon.lines().filter(({ event }) => event === 'page.action');
      expect(taken).toMatchObject(
        ['sync', 'suspend', 'sync', 'resume'].map((action) => ({ action, by: 'Anna Example (on the page)' })),
      );
      // Submitting a form ends an update of the page that is under way.
      expect(complaints.filter((one) => !one.endsWith(' net::ERR_ABORTED'))).toEqual([]);
    }, 180_000);
  },
);

it('who mistypes the trigger token is told so, and can try again', async () => {
  const { url } = await started(['--dry-run'], env);
  const { page } = await visit(`${url}sign-in?next=`, phone);
  await expectUsable(page);
  await page.getByLabel('Your name, to act').fill('Anna Example');
  await page.getByLabel('Token', { exact: true }).fill('a guess of somebody');
  await page.keyboard.press('Enter');
  expect(await page.getByRole('alert').innerText()).toBe('This token is not one of those in the settings.');
  await expectUsable(page);
});

it('who has signed in sees the page also by a link from another site, and others the form', async () => {
  const pageToken = 'the token of the page';
  const { url } = await started(['--dry-run'], { DNS_SYNC_PAGE_TOKEN: pageToken });
  const link = `<!doctype html><a href="${url}">to it</a>`;
  const elsewhere = await serve(
    (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(link),
    onTestFinished,
  );
  const { page } = await visit(elsewhere);
  await page.getByRole('link').click();
  await page.waitForURL(url);
  let loads = 0;
  page.on('request', (request) => void (loads += request.isNavigationRequest() ? 1 : 0));
  await page.getByLabel('Token', { exact: true }).fill(pageToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#link.live').waitFor();
  expect(loads).toBeLessThan(4);
  await page.goto(elsewhere);
  await page.getByRole('link').click();
  await page.locator('#link.live').waitFor();
  expect(page.url()).toBe(url);
});
