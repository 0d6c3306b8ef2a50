import { escapeControl } from '../lib/escape-control.ts';
import { isFailed } from './html-row.ts';
import { style } from './html-style.ts';
import { legend, problemSection, sidesHeading, sidesOf, templateArticles } from './html-template.ts';
import { moment, type PageClock, stateIcon } from './html-words.ts';
import { html, type Markup, type MarkupValue } from './markup.ts';
import type { Report } from './report.ts';
import { isQuiet, statusWords, type TemplateView, viewOf } from './view.ts';
import { groupAlike } from './worst-first.ts';

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
            ${report.run !== '' && runOf(report, clock)}
          </section>
          ${problemSection(problems, { isAlone: differing.length === 0 })}
          ${differing.length > 0 && differenceSection(differing, causes, clock)}
          ${quiet.length > 0 && quietSection(quiet)}
          ${unmanaged !== null && html`<p class="aside">${unmanaged}</p>`}
        </main>
        ${differing.length > 0 && html`<footer>${legend}</footer>`}
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

const differenceSection = (
  templates: readonly TemplateView[],
  causes: string | null,
  clock: PageClock,
): Markup => {
  const groups = groupAlike(templates, ({ status, message, rows, subdomains }) =>
    message !== null && rows.length + subdomains.length === 0 ? `${status} ${message}` : null,
  );
  return html`<section>
    <h2>What differs</h2>
    ${causes !== null && html`<p class="aside">${causes}</p>`} ${chips(templates)} ${sidesHeading}
    ${groups.map((group) =>
      templateArticles(
        group.map((one) => ({ ...one, href: null })),
        group.length,
        { sides: sidesOf({ isReadOnly: false }), clock },
      ),
    )}
  </section>`;
};

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

/** The kinds that can be shown alone. Without a script, radio buttons filter them. */
const kinds = [
  ['failing', 'failed'],
  ['blocked', 'blocked'],
  ['add', 'to add'],
  ['update', 'to change'],
  ['park', 'to park'],
  ['surplus', 'surplus'],
] as const;

const chips = (templates: readonly TemplateView[]): MarkupValue => {
  const rows = templates.flatMap((template) => template.rows);
  const found = kinds.flatMap(([kind, words]) => {
    const count = rows.filter((row) => (kind === 'failing' ? isFailed(row) : row.kind === kind)).length;
    return count === 0 ? [] : { kind, words, count };
  });
  return (
    found.length > 1 &&
    html`<fieldset class="chips">
      <legend class="unseen">Show only</legend>
      <input type="radio" name="show" id="show-all" checked /><label for="show-all">all</label>
      ${found.map(
        ({ kind, words, count }) =>
          html`<span
            ><input type="radio" name="show" id="show-${kind}" /><label for="show-${kind}"
              ><b>${count}</b> ${words}</label
            ></span
          >`,
      )}
    </fieldset>`
  );
};

const chipStyle = kinds
  .map(
    ([kind]) =>
      `:root:has(#show-${kind}:checked) :is(.row:not(.${kind}), article:not(:has(.${kind})), .subdomain) { display: none; }`,
  )
  .join('\n');
