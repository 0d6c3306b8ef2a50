import { plural } from '../lib/plural.ts';
import type { Report } from '../result.ts';
import { compared } from './columns.ts';
import { style } from './html-style.ts';
import { html, linked, Markup, type MarkupValue, stateIcon, withCode, withMoments } from './markup.ts';
import { states, wordOf, type ReportRow, type State } from './row.ts';
import { type Section, type View, viewOf } from './view.ts';

/** The report as one self-contained page: no script, font or image. */
export const renderHtml = (report: Report): string => {
  const { run, trigger, startedAt, durationMs, dryRun } = report;
  const view = viewOf(report);
  const meta =
    run !== '' &&
    `Started by ${trigger} at ${startedAt}, took ${durationMs} ms. ${dryRun ? 'Nothing was written.' : ''}`;
  const page = htmlDocument({
    title: `${wordOf(view.status)}: dns-template-sync`,
    head: html`<meta
      http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'"
    />`,
    style,
    body: html`<header><h1>dns-template-sync</h1></header>
      <main>${reportBody(view, { state: view.status, meta })}</main>
      <footer>${legend}</footer>`,
  });
  return withMoments(page);
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

interface BodyParts {
  /** In a word. */
  readonly state: State;
  /** Why that is no matter of one template. */
  readonly why?: MarkupValue;
  readonly summary?: string;
  /** When and how the report was made. */
  readonly meta: MarkupValue;
  /** What stands before all that differs. */
  readonly tools?: MarkupValue;
  /** Of a report that is part of a larger one: how much is not in it. */
  readonly left?: { readonly groups: number; readonly problems: number; readonly calm: number };
  /** Where the templates in sync are; absent: no template has a page. */
  readonly calmHref?: string;
}

/** What a report says: what needs a person first, then the rest. */
export const reportBody = (view: View, parts: BodyParts): Markup => {
  const { problems, causes, sections, calm, aside } = view;
  const { state, why, summary = view.summary, meta, tools, calmHref } = parts;
  const { left = { groups: 0, problems: 0, calm: 0 } } = parts;
  const all = calm.length + left.calm;
  const isLinked = calmHref !== undefined;
  return html`<section class="now ${states[state][2]}" aria-labelledby="now-title">
      <h2 id="now-title" class="unseen">State</h2>
      <p class="state">${stateIcon(state)}</p>
      ${why}
      <p class="summary" role="status">${summary}</p>
      <p class="meta">${meta}</p>
    </section>
    ${tools} ${problemSection(problems, left.problems)} ${differenceSection(sections, isLinked)}
    ${rest(left.groups, 'template', 'api/report')} ${causes !== null && html`<p class="aside">${causes}</p>`}
    ${
      all > 0 &&
      html`<p class="calm">${stateIcon('in-sync')} ${linked(plural(all, 'template'), calmHref)}</p>`
    }
    ${isLinked && names(calm, isLinked)} ${aside !== null && html`<p class="aside">${withCode(aside)}</p>`}`;
};

export const problemSection = (problems: View['problems'], more = 0): MarkupValue =>
  problems.length > 0 &&
  html`<section aria-labelledby="problems">
    <h2 id="problems">${plural(problems.length + more, 'problem')} in template files</h2>
    <ul class="list">
      ${problems.map(
        ({ severity, place, message, check }) =>
          html`<li>
            <b class="${severity}">${severity}</b> ${place !== '' && html`<code>${place}</code>`} ${message}
            <code class="aside">${check}</code>
          </li>`,
      )}
    </ul>
    ${rest(more, 'problem', 'api/report')}
  </section>`;

/** What differs, with the record at the service and in the file side by side. */
export const differenceSection = (sections: readonly Section[], isLinked: boolean): MarkupValue =>
  sections.length > 0 &&
  html`<section aria-labelledby="differences">
    <h2 id="differences" class="unseen">What differs</h2>
    ${sidesLine('at the service', 'in the file')} ${sections.map((one) => article(one, isLinked))}
  </section>`;

const sidesLine = (actual: string, desired: string): Markup =>
  html`<p class="aside"><del>${actual}</del> → <ins>${desired}</ins></p>`;

/** `level`: of its heading. */
const article = (section: Section, isLinked: boolean, level = 3): Markup => {
  const { title, state, counts = '', file, page, commitUrl, said, names: some = [], more = 0 } = section;
  const { rows = [], sides, parts = [] } = section;
  const href = isLinked ? page : undefined;
  return html`<article>
    <header>
      <h${level}>${linked(title, href)} ${stateIcon(state)}</h${level}>
      ${file !== undefined && html`<p class="aside">${counts !== '' && `${counts} · `}${linked(file, commitUrl)}</p>`}
    </header>
    ${said.map((text) => html`<p class="message">${withCode(text)}</p>`)} ${names(some, isLinked)}
    ${rows.length > 0 && sides && sidesLine(...sides)} ${rowList(rows)}
    ${parts.map((part) => article(part, isLinked, level + 1))}
    ${href !== undefined && rest(more, '', href, 'all of this template')}
  </article>`;
};

const names = (templates: readonly Section[], isLinked: boolean): MarkupValue =>
  templates.length > 0 &&
  html`<p class="names">
      ${templates.slice(0, maxNames).map(({ title, page }) => html`<span>${linked(title, isLinked ? page : null)}</span>`)}
    </p>
    ${templates.length > maxNames && html`<p class="rest">and ${templates.length - maxNames} more</p>`}`;

const maxNames = 200;

/** How many are not on the page, with a link to them. */
export const rest = (left: number, noun: string, address: string, words = `/${address}`): MarkupValue =>
  left > 0 &&
  html`<p class="rest">
    and ${noun === '' ? left : plural(left, noun)} more: <a href="${address}">${words}</a>
  </p>`;

/** A line for each difference; below it the place, why, and what to do. */
export const rowList = (rows: readonly ReportRow[]): MarkupValue =>
  rows.length > 0 &&
  html`<ul class="rows">
    ${rows.map(({ kind, sign, word, color, type, name, values, outcome, why, where, notes }) => {
      return html`<li class="row ${kind}">
        <span class="sign ${color}"><span aria-hidden="true">${sign}</span> ${word}</span>
        <code class="type">${type}</code> <code class="name">${name}</code>
        <span class="sides">${values.map(valueOf)}</span>
        <span class="cause"
          >${outcome !== null && html`<b class="${states[outcome][2]}">${wordOf(outcome)}</b>`}
          ${why.join(' · ')}</span
        >
        ${where.length > 0 && html`<p class="aside">${where.join(' · ')}</p>`}
        ${notes.map((note) => html`<p>${withCode(note)}</p>`)}
      </li>`;
    })}
  </ul>`;

/** A value, or both sides of one with the part marked that changes. */
const valueOf = ({ label, text, desired }: ReportRow['values'][number]): Markup => {
  if (desired === null)
    return label === '' ? html`<code>${text}</code>` : html`<span class="aside">${label}${text}</span>`;
  const { start, from, to, end } = compared(text, desired);
  // Short texts are easier to read without marks.
  const isMarked = Math.max(text.length, desired.length) > 24;
  const side = (middle: string): Markup =>
    html`<code>${start}${isMarked && middle !== '' ? html`<mark>${middle}</mark>` : middle}${end}</code>`;
  return html`<span>${label}<del>${side(from)}</del> → <ins>${side(to)}</ins></span>`;
};

/** The terms of the report, for new readers. */
export const legend = html`<p>
  <b>edited</b>: the file changed. <b>drifted</b>: the service changed. <b>surplus</b>: a record that the file
  does not list; the service cannot delete one. <b>unlisted, duplicate</b>: not in the file; a copy of a
  record in use. <b>park</b>: a surplus record gets an unused name and inert content. <b>blocked</b>: not
  written until somebody removes the obstacle. <b>held back</b>: by a mode, a limit or a suspension. <b>@</b>:
  the subdomain itself.
</p>`;
