import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderPage } from '../../src/status-page/page.ts';
import { pagePolicy } from '../../src/status-page/policy.ts';
import { states } from '../status-page/page-states.ts';
import { barriersOf, expectNoSideways, visit } from './browser.ts';

/** A folder for a picture of each state, for whoever wants to look at them. */
const pictures = process.env['PICTURES'];

const server = createServer((request, response) => {
  const state = states[(request.url ?? '').slice(1)];
  if (state === undefined) {
    response.writeHead(204).end();
    return;
  }
  const headers = { 'content-type': 'text/html; charset=UTF-8', 'content-security-policy': pagePolicy };
  response.writeHead(200, headers).end(renderPage(state()));
});
let origin = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => void server.close());

const looks = [
  ['light', 390, 844],
  ['dark', 390, 844],
  ['light', 1280, 800],
  ['dark', 1280, 800],
] as const;

describe.each(Object.keys(states))('the page: %s', (name) => {
  it.each(looks)('in %s, %i × %i', async (colorScheme, width, height) => {
    const { page } = await visit(`${origin}/${name}`, { colorScheme, viewport: { width, height } });
    if (pictures !== undefined)
      await page.screenshot({ path: path.join(pictures, `${name}-${width}-${colorScheme}.png`) });
    await expectNoSideways(page);
    const first = page.locator('.row, article').first();
    // What differs is what people come for: it is on the first screen, on a phone too.
    if ((await first.count()) > 0) expect((await first.boundingBox())?.y).toBeLessThan(height - 60);
    expect(await barriersOf(page)).toEqual([]);
  });
});
