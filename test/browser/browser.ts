import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';

/** Where Debian has it; another one by the variable. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** It is to ask for nothing but the page. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath, args });
});
afterAll(() => browser.close());

export interface Sight {
  readonly page: Page;
  /** What the browser complained of: errors, warnings, violations of the policy, requests that failed. */
  readonly complaints: readonly string[];
}

/** The page in a browser that nobody used before, with a profile of its own. */
export const visit = async (url: string, options: BrowserContextOptions = {}): Promise<Sight> => {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    if (!(request.url().endsWith('/events') && why === 'net::ERR_ABORTED'))
      complaints.push(`${request.url()} ${why}`);
  });
  await page.goto(url);
  return { page, complaints };
};

/** The origin of a site that is there as long as the test, or as its file. */
export const serve = async (
  listener: RequestListener,
  whenOver: (close: () => void) => void,
): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  whenOver(() => void server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
};

/** According to axe: all findings that are serious or critical. */
const barriersOf = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    // oxlint-disable-next-line typescript/no-explicit-any -- in the page, where its source has just been run
    const { run } = (globalThis as any).axe as typeof axe;
    const results = await run();
    return results.violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      places: nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`),
    }));
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map((violation) => JSON.stringify(violation));
};

/** Everything is within the width of the window, and nothing keeps people from using it. */
export const expectUsable = async (page: Page): Promise<void> => {
  const wider = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(wider).toBe(0);
  expect(await barriersOf(page)).toEqual([]);
};
