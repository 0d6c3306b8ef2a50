import { style } from './html-style.ts';
import { differenceSection, legend, problemSection } from './html-template.ts';
import { html, Markup, type MarkupValue, stateIcon, withMoments } from './markup.ts';
import type { Report } from './report.ts';
import { statusWords, viewOf } from './view.ts';

/** The report as one self-contained page: no script, font or image. */
export const renderHtml = (report: Report): string => {
  const { status, summary, causes, groups, quiet, problems, aside } = viewOf(report);
  const { run, trigger, startedAt, durationMs, dryRun } = report;
  const main = html`<section class="now ${status}">
      ${stateIcon(status)}
      <p class="summary">${summary}</p>
      ${
        run !== '' &&
        html`<p class="aside meta">
          Started by ${trigger} at ${startedAt}, took ${durationMs} ms. ${dryRun && 'Nothing was written.'}
        </p>`
      }
    </section>
    ${problemSection(problems)} ${causes !== null && html`<p class="aside">${causes}</p>`}
    ${differenceSection(
      groups.map((group) => ({
        shown: group.map((one) => ({ ...one, href: null })),
        count: group.length,
      })),
    )}
    ${
      quiet.length > 0 &&
      html`<section>
        <h2>In sync: ${quiet.length}</h2>
        <ul class="quiet">
          ${quiet.map(({ title, counts }) => html`<li><b>${title}</b> ${counts}</li>`)}
        </ul>
      </section>`
    }
    ${aside !== null && html`<p class="aside">${aside}</p>`}`;
  const page = htmlDocument({
    title: `${statusWords[status]}: dns-template-sync`,
    head: html`<meta
      http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'"
    />`,
    style,
    body: html`<header><h1>dns-template-sync</h1></header>
      <main>${main}</main>
      <footer>${legend}</footer>`,
  });
  return withMoments(page, { now: Date.parse(startedAt), timeZone: 'UTC' });
};

interface DocumentParts {
  readonly title: string;
  readonly head: MarkupValue;
  /** CSS. */
  readonly style: string;
  /** Of its root. */
  readonly attributes?: MarkupValue;
  readonly body: Markup;
}

export const htmlDocument = ({ title, head, style: css, attributes, body }: DocumentParts): Markup =>
  html`<!doctype html>
    <html lang="en" ${attributes}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        ${head} ${new Markup(`<style>${css}</style>`)}
      </head>
      <body>
        ${body}
      </body>
    </html>`;
