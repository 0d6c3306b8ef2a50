import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProcess } from '../process.ts';
import { expectUsable, visit } from './browser.ts';
import { started } from './started.ts';

const summary = '[role=status]';

/** In the page. */
const classesOf = (elements: readonly { readonly className: string }[]): string[] =>
  elements.map(({ className }) => className);

describe('the page in a browser', () => {
  it('shows drift without a reload, and none after the pass that corrects it', async () => {
    const { daemon, url, change, idOf } = await started();
    const { page, complaints } = await visit(url);
    await page.locator('#link.live').waitFor();
    await page.evaluate('globalThis.isSame = true');
    await page.locator('article h3 a').first().focus();

    await change('add-record', { dns_template_id: 17, type: 'A', name: 'stray', content: '192.0.2.99' });
    await daemon.pass();
    const stray = page.locator('.rows li', { hasText: 'stray' });
    await stray.waitFor();
    expect(await stray.innerText()).toMatch(/surplus\s+A\s+stray\s+192\.0\.2\.99/);
    expect(await page.locator(summary).innerText()).toContain('4 surplus');

    await change('remove-record', { record_id: await idOf('A', 'stray') });
    await daemon.pass();
    await stray.waitFor({ state: 'detached' });

    await change('edit-record', { record_id: await idOf('A', 'www'), content: '192.0.2.7' });
    await daemon.pass();
    await page.locator('figcaption', { hasText: 'written' }).waitFor();
    expect(await page.locator('.rows li', { hasText: '192.0.2.7' }).count()).toBe(0);

    expect(await page.evaluate('isSame')).toBe(true);
    expect(await page.evaluate("document.activeElement.matches('article h3 a')")).toBe(true);

    await page.getByRole('link', { name: 'The last writes' }).click();
    const mended = page.locator('#writes ~ .rows li', { hasText: '192.0.2.7' });
    expect(await mended.innerText()).toContain('203.0.113.10');
    await page.locator('#link.live').waitFor();
    expect(complaints).toEqual([]);
  });

  it('filters by links that work without JavaScript too', async () => {
    const { url } = await started(['--dry-run']);
    for (const javaScriptEnabled of [true, false]) {
      const { page, complaints } = await visit(url, { javaScriptEnabled });
      const kinds = (): Promise<string[]> => page.locator('.row').evaluateAll(classesOf);
      expect(new Set(await kinds()).size).toBeGreaterThan(3);
      const chip = page.locator('#filters a', { hasText: 'blocked' });
      await chip.click();
      await page.locator('#filters a[aria-current]', { hasText: 'blocked' }).waitFor();
      expect(page.url()).toBe(`${url}?show=blocked`);
      expect(await kinds()).toEqual(['row blocked']);
      await page.goBack();
      await page.locator('#filters a[aria-current]', { hasText: 'all' }).waitFor();
      await page.locator('.row.add').first().waitFor();
      await page.getByRole('searchbox').fill('203.0.113.10');
      await page.keyboard.press('Enter');
      await page.locator('.row.blocked').waitFor({ state: 'detached' });
      expect(await page.locator('.row').allInnerTexts()).toEqual([
        expect.stringContaining('203.0.113.9 → 203.0.113.10'),
      ]);
      expect(page.url()).toBe(`${url}?q=203.0.113.10`);
      expect(complaints).toEqual([]);
    }
  });

  it('has a page for each template: its differences, all its records, subdomains and writes', async () => {
    const { daemon, url, change, idOf } = await started();
    await change('edit-record', { record_id: await idOf('A', 'www'), content: '192.0.2.7' });
    await daemon.pass();
    const { page, complaints } = await visit(url, { viewport: { width: 390, height: 844 } });
    await page.getByRole('link', { name: /^standard-web/ }).click();
    expect(page.url()).toBe(`${url}templates/standard-web`);
    await page.locator('#link.live').waitFor();
    const words = await page.locator('main').innerText();
    expect(words).toMatch(/bakery\.shops\.example\.com/);
    expect(words).toMatch(/\d+ records in the file/);
    expect(await page.locator('.records li').first().innerText()).toMatch(/line \d+/);
    expect(await page.locator('.row', { hasText: 'blocked' }).count()).toBe(1);
    expect(words).toContain('192.0.2.7 → 203.0.113.10');
    await change('add-record', { dns_template_id: 17, type: 'A', name: 'stray', content: '192.0.2.99' });
    await daemon.pass();
    await page.locator('.row', { hasText: 'stray' }).waitFor();
    await expectUsable(page);
    expect(complaints).toEqual([]);
    expect((await daemon.ask('/templates/no-such-one')).status).toBe(404);
  });

  it('shows times in the zone of the reader, and in UTC on hover', async () => {
    const { url } = await started();
    const { page } = await visit(url, { timezoneId: 'Asia/Kolkata', locale: 'en-GB' });
    await page.locator('#link.live').waitFor();
    const time = page.locator('.meta time').first();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    expect(await time.innerText()).toContain(at.toLocaleTimeString('en-GB', { timeZone: 'Asia/Kolkata' }));
    expect(await time.getAttribute('title')).toBe(at.toISOString().replace(/T(.{8}).*/, ' $1 UTC'));
  });

  it('says when the daemon has ended, and is live again with the next one', async () => {
    const { daemon, url } = await started();
    const { page } = await visit(url);
    const version = (): Promise<unknown> => page.evaluate('document.documentElement.dataset.version');
    await page.locator('#link.live').waitFor();
    const before = await version();
    daemon.signal('SIGTERM');
    await page.locator('#link.lost').waitFor();
    expect(await page.locator('#link').innerText()).toMatch(/Not connected since .*\d\d:\d\d/);
    expect(await page.title()).toMatch(/^not connected/);
    expect(await page.locator('.now .badge').innerText()).toMatch(/^\? not connected, was /);
    expect(await daemon.ended).toMatchObject({ code: 0 });
    await started(['--listen', new URL(url).host]);
    await page.locator('html:not(.lost) #link.live').waitFor();
    expect(await page.title()).not.toContain('not connected');
    expect(await page.locator('.now .badge').innerText()).not.toContain('not connected');
    await page.locator(`html:not([data-version="${String(before)}"])`).waitFor({ state: 'attached' });
  });

  it('says so too when it hears nothing any more, as from a machine that is gone', async () => {
    const { daemon, url } = await started([], {}, undefined, startProcess);
    const { page } = await visit(url);
    await page.clock.install();
    await page.reload();
    await page.locator('#link.live').waitFor();
    daemon.signal('SIGSTOP');
    await page.clock.fastForward(50_000);
    await page.locator('html.lost #link.lost').waitFor();
    daemon.signal('SIGCONT');
    await page.locator('html:not(.lost) #link.live').waitFor();
  });

  it('moves the focus to the start of the state if its element is gone', async () => {
    const { daemon, url, change, idOf } = await started(['--dry-run']);
    await change('add-record', { dns_template_id: 17, type: 'A', name: 'stray', content: '192.0.2.99' });
    await daemon.pass();
    const { page } = await visit(`${url}?q=stray`);
    await page.locator('#link.live').waitFor();
    await page.locator('article h3 a').focus();
    await change('remove-record', { record_id: await idOf('A', 'stray') });
    await daemon.pass();
    await page.locator('article').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });
});

describe('the picture of the README', () => {
  const picture = path.join('.github', 'status-page.png');

  it('shows this page', async () => {
    // Many kinds of differences, nothing written, and causes: a dry run remembers nothing.
    const { daemon, url, change, idOf } = await started(['--schedule', '*/5 * * * *'], {
      DNS_SYNC_MODE: 'report',
    });
    await change('edit-record', { record_id: await idOf('MX', null), content: 'mx9.example.com' });
    await daemon.pass();
    const { page } = await visit(url, { viewport: { width: 1_200, height: 640 }, deviceScaleFactor: 1.5 });
    await page.locator('#link.live').waitFor();
    const taken = await page.screenshot();
    if (process.env['PICTURE'] === 'new') await writeFile(picture, taken);
    expect(sizeOf(await readFile(picture))).toEqual(sizeOf(taken));
  });
});

/** Width and height, as a PNG has them. */
const sizeOf = (png: Buffer): number[] => [png.readUInt32BE(16), png.readUInt32BE(20)];
