import { escapeControl } from '../lib/escape-control.ts';
import { style } from './html-style.ts';
import { legend, problemSection, sidesHeading, templateArticles } from './html-template.ts';
import { moment, type PageClock, stateIcon } from './html-words.ts';
import { html, type Markup } from './markup.ts';
import type { Report } from './report.ts';
import { statusWords, type TemplateView, viewOf } from './view.ts';

/** The report as one self-contained page: no script, font or image. */
export const renderHtml = (report: Report): string => {
  const { status, summary, causes, groups, quiet, problems, aside } = viewOf(report);
  const clock = { now: Date.parse(report.startedAt), timeZone: 'UTC' };
  const articles = groups.map((group) =>
    templateArticles(
      group.map((one) => ({ ...one, href: null })),
      group.length,
      clock,
    ),
  );
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>${statusWords[status]}: dns-template-sync</title>
        <style>
          ${style}
        </style>
      </head>
      <body>
        <header><h1>dns-template-sync</h1></header>
        <main>
          <section class="now ${status}">
            ${stateIcon(status)}
            <p class="summary">${summary}</p>
            ${report.run !== '' && runOf(report, clock)}
          </section>
          ${problemSection(problems)}
          ${
            groups.length > 0 &&
            html`<section>
              <h2>What differs</h2>
              ${causes !== null && html`<p class="aside">${causes}</p>`} ${sidesHeading} ${articles}
            </section>`
          }
          ${quiet.length > 0 && quietSection(quiet)} ${aside !== null && html`<p class="aside">${aside}</p>`}
        </main>
        ${groups.length > 0 && html`<footer>${legend}</footer>`}
      </body>
    </html>`;
  return `${page.source}\n`;
};

const runOf = ({ run, trigger, startedAt, durationMs, dryRun }: Report, { timeZone }: PageClock): Markup =>
  html`<p class="aside meta">
    Started by ${trigger} at ${moment(Date.parse(startedAt), { now: 0, timeZone })}, took ${durationMs} ms.
    ${dryRun && 'Nothing was written.'} Run
    <code>${escapeControl(run)}</code>
  </p>`;

const quietSection = (templates: readonly TemplateView[]): Markup =>
  html`<section>
    <details>
      <summary>In sync: ${templates.length}</summary>
      <ul class="quiet">
        ${templates.map(
          ({ title, counts, file }) =>
            html`<li><b>${title}</b> ${counts} <code class="aside">${file}</code></li>`,
        )}
      </ul>
    </details>
  </section>`;
