import { escapeControl } from '../lib/escape-control.ts';
import { answersParts, badge, problemList, rowList } from './html-parts.ts';
import { style } from './html-style.ts';
import { html, type Markup } from './markup.ts';
import type { Report } from './report.ts';
import {
  isQuiet,
  type ProblemView,
  statusWords,
  type SubdomainView,
  type TemplateView,
  viewOf,
} from './view.ts';

/** The report as one page that needs nothing else: no script, no font, no picture. */
export const renderHtml = (report: Report): string => {
  const { status, summary, templates, problems } = viewOf(report);
  const differing = templates.filter((template) => !isQuiet(template));
  const quiet = templates.filter(isQuiet);
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
        <header>
          <h1>dns-template-sync ${badge(status)}</h1>
          <p class="summary">${summary}</p>
          ${runOf(report)}
        </header>
        <main>
          ${problems.length === 0 ? '' : problemSection(problems)} ${differing.map(templateSection)}
          ${quiet.length === 0 ? '' : quietSection(quiet)}
        </main>
        ${differing.length === 0 ? '' : legend}
      </body>
    </html>`;
  return `${page.source}\n`;
};

const runOf = ({ run, trigger, startedAt, durationMs, dryRun }: Report): Markup | string =>
  run === ''
    ? ''
    : html`<p class="aside">
        Started by ${trigger} at <time datetime="${startedAt}">${startedAt}</time>, took ${String(durationMs)}
        ms. ${dryRun ? 'Nothing was written.' : ''} Run <code>${escapeControl(run)}</code>
      </p>`;

const problemSection = (problems: readonly ProblemView[]): Markup =>
  html`<section>
    <h2>Problems in template files</h2>
    ${problemList(problems)}
  </section>`;

const templateSection = (template: TemplateView): Markup =>
  html`<section>
    <h2>${template.title} ${badge(template.status)}</h2>
    <p class="aside">${template.counts === '' ? '' : `${template.counts} · `}<code>${template.file}</code></p>
    ${template.message === null ? '' : html`<p class="message">${template.message}</p>`}
    ${rowList(template.rows)} ${template.subdomains.map(subdomainSection)}
  </section>`;

const subdomainSection = ({ subdomain, status, message, rows, answers }: SubdomainView): Markup =>
  html`<section>
    <h3>Subdomain ${subdomain} ${badge(status)}</h3>
    ${message === null ? '' : html`<p class="message">${message}</p>`} ${rowList(rows)}
    ${
      answers === null
        ? ''
        : html`<h4>Name servers ${badge(answers.status)}</h4>
            ${answersParts(answers)}`
    }
  </section>`;

const quietSection = (templates: readonly TemplateView[]): Markup =>
  html`<section>
    <h2>In sync</h2>
    <ul class="quiet">
      ${templates.map(
        ({ title, counts, file }) =>
          html`<li><b>${title}</b> ${counts} <code class="aside">${file}</code></li>`,
      )}
    </ul>
  </section>`;

const words = [
  ['edited', 'the file changed'],
  ['drifted', 'the service changed'],
  ['surplus', 'a record that the file does not want; the service cannot delete one'],
  ['unlisted, duplicate', 'not in the file; a copy of a record in use'],
  ['park', 'a surplus record gets a name and content that serve nobody'],
  ['blocked', 'not written until somebody clears what is in the way'],
  ['skipped', 'held back by a mode or a limit'],
  ['@', 'the subdomain itself'],
] as const;

const legend = html`<footer>
  <h2>What the words say</h2>
  <dl>
    ${words.map(
      ([word, meaning]) =>
        html`<div>
          <dt>${word}</dt>
          <dd>${meaning}</dd>
        </div>`,
    )}
  </dl>
</footer>`;
