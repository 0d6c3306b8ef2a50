import { html, Markup } from '../report/markup.ts';
import { viewOf } from '../report/view.ts';
import { cleanTexts } from '../secrets.ts';
import { clientSection } from './clients.ts';
import { differenceSections } from './differences.ts';
import type { PageFacts } from './facts.ts';
import { icon } from './icon.ts';
import { overview } from './overview.ts';
import { passSection } from './passes.ts';
import { script } from './script.ts';
import { style } from './style.ts';
import { moment, sign, signs } from './words.ts';
import { writeSection } from './writes.ts';

/** The status page: whole as it stands, and kept up to date by its script. */
export const renderPage = (facts: PageFacts): string => {
  const { version, now, newest, clients, day, passes, writes } = cleanTexts(facts, shortened);
  const hasReport = newest.report.run !== '';
  const view = viewOf(newest.report);
  const summary = hasReport ? view.summary : 'the first pass has not ended yet';
  const state = hasReport ? view.status : 'starting';
  const page = html`<!doctype html>
    <html lang="en" data-version="${version}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${signs[state]?.[1] ?? ''} · dns-template-sync</title>
        <link rel="icon" href="${icon(state)}" />
        <noscript><meta http-equiv="refresh" content="30" /></noscript>
        ${new Markup(`<style>${style}</style>`)}
      </head>
      <body>
        <a class="skip" href="#now">Skip to the state</a>
        <header>
          <h1>dns-template-sync</h1>
          <p id="link" class="link">
            As of ${moment(now, now)}<noscript
              >. Without JavaScript the page loads itself again every 30 seconds.</noscript
            >
          </p>
        </header>
        <main id="main" tabindex="-1">
          <section id="now" class="now ${signs[state]?.[2] ?? state}" aria-labelledby="now-title">
            <h2 id="now-title" class="unseen">State</h2>
            <p class="state">${sign(state)}</p>
            <p class="summary" role="status">${summary}</p>
            ${newest.report.dryRun && hasReport ? html`<p class="aside">Dry run: nothing is written.</p>` : ''}
          </section>
          ${overview({ newest, clients, now })} ${clientSection(clients, now)}
          ${differenceSections(newest, view)} ${passSection(day, passes, now)} ${writeSection(writes, now)}
        </main>
        ${footer} ${new Markup(`<script>${script}</script>`)}
      </body>
    </html>`;
  return `${page.source}\n`;
};

/** Whatever stands in a record, the page stays one that a browser can show. */
const shortened = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest)}… (${text.length - longest} characters more)` : text;

const longest = 1_500;

const footer = html`<footer>
  <p>
    The same for programs: <a href="/api/report">/api/report</a>, <a href="/api/history">/api/history</a>,
    <a href="/metrics">/metrics</a>
  </p>
  <p class="aside">
    <b>edited</b>: the file changed. <b>drifted</b>: the service changed. <b>surplus</b>: a record that the
    file does not want; the service cannot delete one. <b>blocked</b>: not written until somebody clears what
    is in the way. <b>skipped</b>: held back by a mode or a limit. <b>@</b>: the subdomain itself.
  </p>
</footer>`;
