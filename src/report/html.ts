import { escapeControl } from '../lib/escape-control.ts';
import { groupAlike } from './worst-first.ts';
import { alikeArticle, problemSection, sidesHeading, templateArticle } from './html-parts.ts';
import { isFailed } from './html-row.ts';
import { style } from './html-style.ts';
import { moment, type PageClock, stateIcon } from './html-words.ts';
import { html, type Markup } from './markup.ts';
import type { Report } from './report.ts';
import { isQuiet, statusWords, type TemplateView, viewOf } from './view.ts';

/** The report as one self-contained page: no script, font or image. */
export const renderHtml = (report: Report): string => {
  const { status, summary, templates, problems, unmanaged, causes } = viewOf(report);
  const differing = templates.filter((template) => !isQuiet(template));
  const quiet = templates.filter(isQuiet);
  const clock = { now: Date.parse(report.startedAt), timeZone: 'UTC' };
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>${statusWords[status]}: dns-template-sync</title>
        <style>
          ${style}${chipStyle}
        </style>
      </head>
      <body>
        <header><h1>dns-template-sync</h1></header>
        <main>
          <section class="now ${status}">
            ${stateIcon(status)}
            <p class="summary">${summary}</p>
            ${runOf(report, clock)}
          </section>
          ${problemSection(problems, { isAlone: differing.length === 0 })}
          ${differing.length === 0 ? '' : differenceSection(differing, causes, clock)}
          ${quiet.length === 0 ? '' : quietSection(quiet)}
          ${unmanaged === null ? '' : html`<p class="aside">${unmanaged}</p>`}
        </main>
        ${differing.length === 0 ? '' : legend}
      </body>
    </html>`;
  return `${page.source}\n`;
};

const runOf = (
  { run, trigger, startedAt, durationMs, dryRun }: Report,
  { timeZone }: PageClock,
): Markup | string =>
  run === ''
    ? ''
    : html`<p class="aside meta">
        Started by ${trigger} at ${moment(Date.parse(startedAt), { now: 0, timeZone })}, took
        ${String(durationMs)} ms. ${dryRun ? 'Nothing was written.' : ''} Run
        <code>${escapeControl(run)}</code>
      </p>`;

const differenceSection = (
  templates: readonly TemplateView[],
  causes: string | null,
  clock: PageClock,
): Markup =>
  html`<section>
    <h2>What differs</h2>
    ${causes === null ? '' : html`<p class="aside">${causes}</p>`} ${chips(templates)} ${sidesHeading}
    ${groupAlike(templates, (template) =>
      template.message !== null && template.rows.length + template.subdomains.length === 0
        ? `${template.status} ${template.message}`
        : null,
    ).map((group) =>
      group.length > 1
        ? alikeArticle(
            group.map((one) => ({ ...one, href: null })),
            group.length,
            clock,
          )
        : group.map((one) => templateArticle(one, { clock, href: null }))[0]!,
    )}
  </section>`;

const quietSection = (templates: readonly TemplateView[]): Markup =>
  html`<section>
    <details>
      <summary>In sync: ${String(templates.length)}</summary>
      <ul class="quiet">
        ${templates.map(
          ({ title, counts, file }) =>
            html`<li><b>${title}</b> ${counts} <code class="aside">${file}</code></li>`,
        )}
      </ul>
    </details>
  </section>`;

/** The kinds that can be shown alone. Without a script, radio buttons filter them. */
const kinds = [
  ['failing', 'failed'],
  ['blocked', 'blocked'],
  ['add', 'to add'],
  ['update', 'to change'],
  ['park', 'to park'],
  ['surplus', 'surplus'],
] as const;

const chips = (templates: readonly TemplateView[]): Markup | string => {
  const rows = templates.flatMap((template) => template.rows);
  const counts = kinds
    .map(([kind, words]) => {
      const isOne = (row: (typeof rows)[number]): boolean =>
        kind === 'failing' ? isFailed(row) : row.kind === kind;
      return [kind, words, rows.filter(isOne).length] as const;
    })
    .filter(([, , count]) => count > 0);
  if (counts.length < 2) return '';
  return html`<fieldset class="chips">
    <legend class="unseen">Show only</legend>
    <input type="radio" name="show" id="show-all" checked /><label for="show-all">all</label>
    ${counts.map(
      ([kind, words, count]) =>
        html`<span
          ><input type="radio" name="show" id="show-${kind}" /><label for="show-${kind}"
            ><b>${String(count)}</b> ${words}</label
          ></span
        >`,
    )}
  </fieldset>`;
};

const chipStyle = kinds
  .map(
    ([kind]) =>
      `:root:has(#show-${kind}:checked) :is(.row:not(.${kind}), article:not(:has(.${kind})), .subdomain) { display: none; }`,
  )
  .join('\n');

const words = [
  ['edited', 'the file changed'],
  ['drifted', 'the service changed'],
  ['surplus', 'a record that the file does not list; the service cannot delete one'],
  ['unlisted, duplicate', 'not in the file; a copy of a record in use'],
  ['park', 'a surplus record gets an unused name and inert content'],
  ['blocked', 'not written until somebody removes the obstacle'],
  ['skipped', 'held back by a mode or a limit'],
  ['@', 'the subdomain itself'],
] as const;

/** The terms of the report, for new readers. */
export const legend = html`<footer>
  <p>${words.map(([word, meaning]) => html`<span><b>${word}</b>: ${meaning}. </span>`)}</p>
</footer>`;
