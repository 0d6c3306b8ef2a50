import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { renderSignIn } from '../../src/status-page/forms.ts';
import { pagePolicy } from '../../src/status-page/frame.ts';
import { renderHtml } from '../../src/report/html.ts';
import { renderTemplatePage, renderWrites } from '../../src/status-page/template-page.ts';
import { everyKindReport } from '../report/every-kind.ts';
import { factsOf, overviewOf, states, templateState, visitor, writes } from '../status-page/page-states.ts';
import { expectUsable, serve, visit } from './browser.ts';

/** A folder for a picture of each state, for whoever wants to look at them. */
const pictures = process.env['PICTURES'];

const pages: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(Object.entries(states).map(([name, facts]) => [name, () => overviewOf(facts())])),
  template: () => {
    const { facts, of } = templateState();
    return renderTemplatePage(
      { ...facts, ...visitor(), root: '../', reader: { role: 'act', canAct: true } },
      of,
    );
  },
  writes: () => renderWrites({ ...factsOf([]), ...visitor() }, writes),
  'sign-in': () => renderSignIn({ root: './', next: '', error: null, isClosed: true, reloads: false }),
  // It has a policy of its own.
  'plan-html': () => renderHtml(everyKindReport),
};

const origin = await serve((request, response) => {
  const name = (request.url ?? '').slice(1);
  const page = pages[name];
  const policy = name === 'plan-html' ? {} : { 'content-security-policy': pagePolicy };
  if (page === undefined) response.writeHead(204).end();
  else response.writeHead(200, { 'content-type': 'text/html; charset=UTF-8', ...policy }).end(page());
}, afterAll);

const takePicture = async (page: Page, file: string): Promise<void> => {
  const height = await page.evaluate('document.documentElement.scrollHeight');
  const first = await page.evaluate("document.querySelector('.row, article')?.getBoundingClientRect().top");
  const bytes = (await page.content()).length;
  process.stdout.write(
    `${file}: ${String(height)} px high, first difference at ${String(first)}, ${bytes} bytes\n`,
  );
  await page.screenshot({ path: path.join(pictures ?? '', file) });
};

const looks = [
  ['dark', 390, 844],
  ['light', 768, 1024],
  ['dark', 1280, 800],
  ['light', 1920, 1080],
] as const;

describe.each(Object.keys(pages))('the page: %s', (name) => {
  it.each(looks)('in %s, %i × %i', async (colorScheme, width, height) => {
    const { page } = await visit(`${origin}/${name}`, { colorScheme, viewport: { width, height } });
    if (pictures !== undefined) await takePicture(page, `${name}-${width}-${colorScheme}.png`);
    // What to do is never cut.
    const cut = await page
      .locator('.row p')
      .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map(String));
    expect(cut).toEqual([]);
    const first = page.locator('.row, article').first();
    // What differs is what people come for: it is on the first screen, on a phone too.
    if ((await first.count()) > 0) expect((await first.boundingBox())?.y).toBeLessThan(height - 60);
    await expectUsable(page);
  });
});
