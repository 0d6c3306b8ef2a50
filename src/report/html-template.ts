import { plural } from '../lib/plural.ts';
import { rowList } from './html-row.ts';
import { type PageClock, prose, stateIcon } from './html-words.ts';
import { html, type Markup, type MarkupValue } from './markup.ts';
import type { ReportRow } from './row.ts';
import type { ProblemView, SubdomainView, TemplateView } from './view.ts';

/** The parts of a report as HTML, which all pages share. */

/** Many are folded, so that the rest is on the first screen. */
export const problemSection = (
  problems: readonly ProblemView[],
  { more = 0, after = null }: { more?: number; after?: MarkupValue } = {},
): Markup | null => {
  if (problems.length === 0) return null;
  const severity = problems.some((problem) => problem.severity === 'error') ? 'error' : 'warning';
  return html`<section aria-labelledby="problems">
    <details id="problem-list" class="problems" ${problems.length <= fewProblems && html` open`}>
      <summary>
        <h2 id="problems" class="${severity}">
          ${plural(problems.length + more, 'problem')} in template files
        </h2>
      </summary>
      <ul>
        ${problems.map(
          (problem) =>
            html`<li>
              <b class="${problem.severity}">${problem.severity}</b>
              ${problem.place !== '' && html`<code>${problem.place}</code>`} ${problem.message}
              <code class="aside">${problem.check}</code>
            </li>`,
        )}
      </ul>
      ${after}
    </details>
  </section>`;
};

const fewProblems = 3;

/** The headings of the columns of all differences. */
export const sidesHeading = html`<p class="columns">
  <span>difference</span><span>type</span><span>name</span
  ><span><del>at the service</del> → <ins>in the file</ins></span
  ><span>cause</span><span>what to do</span>
</p>`;

/** A template, and the address of its own page; null if there is none. */
export type LinkedTemplate = TemplateView & { readonly href: string | null };

/** Templates that differ. Those with the same message and nothing else, a group, are one article. */
export const templateArticles = (
  group: readonly LinkedTemplate[],
  count: number,
  clock: PageClock,
  after: MarkupValue = null,
): Markup | null => {
  const [first] = group;
  if (first === undefined) return null;
  const { title, href, status, counts, message, rows, subdomains } = first;
  const said = message !== null && html`<p class="message">${prose(message, clock)}</p>`;
  if (count > 1)
    return html`<article class="of-${status}" data-key="${status} ${message}">
      <header><h3>${count} templates ${stateIcon(status)}</h3></header>
      ${said}
      <p class="names">${group.map((one) => html`<span>${linked(one.title, one.href)}</span>`)}</p>
      ${count > group.length && html`<p class="rest">and ${count - group.length} more</p>`}
    </article>`;
  return html`<article class="of-${status}" data-key="${title}">
    <header>
      <h3>${linked(title, href)} ${stateIcon(status)}</h3>
      <p class="aside">${counts !== '' && `${counts} · `}${fileOf(first)}</p>
    </header>
    ${said} ${rowList(rows, clock)} ${subdomains.map((one) => subdomainPart(one, clock))} ${after}
  </article>`;
};

/** The file of a template, and its commit. */
export const fileOf = ({ file, commit }: Pick<TemplateView, 'file' | 'commit'>): Markup =>
  html`<code>${file}</code>${commit !== null && html` · ${linked(commit.id, commit.url)}`}`;

/** The differences of a subdomain, and those of its name servers. */
export const subdomainPart = (
  { subdomain, status, message, rows, answers }: SubdomainView,
  clock: PageClock,
): Markup => {
  const said = (text: string): Markup => html`<p class="message">${prose(text, clock)}</p>`;
  const labelled = (some: readonly ReportRow[], actual: string, desired: string): MarkupValue =>
    some.length > 0 &&
    html`<p class="aside"><del>${actual}</del> → <ins>${desired}</ins></p>
      ${rowList(some, clock)}`;
  return html`<section class="subdomain" data-key="${subdomain}">
    <h4>Subdomain ${subdomain} ${stateIcon(status)}</h4>
    ${message !== null && said(message)} ${labelled(rows, 'at the subdomain', 'in its template')}
    ${
      answers !== null &&
      html`<p>Name servers ${stateIcon(answers.status)}</p>
        ${answers.remarks.map(said)} ${labelled(answers.rows, 'at the name servers', 'at the service')}`
    }
  </section>`;
};

export const linked = (text: string, href: string | null): Markup =>
  href === null ? html`${text}` : html`<a href="${href}">${text}</a>`;

/** The terms of the report, for new readers. */
export const legend = html`<p>
  <b>edited</b>: the file changed. <b>drifted</b>: the service changed. <b>surplus</b>: a record that the file
  does not list; the service cannot delete one. <b>unlisted, duplicate</b>: not in the file; a copy of a
  record in use. <b>park</b>: a surplus record gets an unused name and inert content. <b>blocked</b>: not
  written until somebody removes the obstacle. <b>skipped</b>: held back by a mode or a limit. <b>@</b>: the
  subdomain itself.
</p>`;
