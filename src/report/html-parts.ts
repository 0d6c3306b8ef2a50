import type { AnswersView } from './answers-view.ts';
import { type PageClock, prose, stateIcon } from './html-words.ts';
import { answerSides, rowList, type SideNames, subdomainSides, templateSides } from './html-row.ts';
import { html, type Markup } from './markup.ts';
import { plural } from '../lib/plural.ts';
import type { ReportRow } from './row.ts';
import type { ProblemView, SubdomainView, TemplateView } from './view.ts';

/** The parts of a report as HTML, which all pages share. */

interface ProblemOptions {
  /** Whether there is nothing else to show. */
  readonly isAlone: boolean;
  /** The number of problems that are not shown, and where they are. */
  readonly more?: number;
  readonly after?: Markup | string;
}

/** Collapsed to one line, so that the rest is on the first screen. */
export const problemSection = (
  problems: readonly ProblemView[],
  { isAlone, more = 0, after = '' }: ProblemOptions,
): Markup | string => {
  const [first] = problems;
  if (first === undefined) return '';
  const open = isAlone || problems.length <= fewProblems ? html` open` : '';
  const severity = problems.some((problem) => problem.severity === 'error') ? 'error' : 'warning';
  return html`<section aria-labelledby="problems">
    <details id="problem-list" class="problems" ${open}>
      <summary>
        <h2 id="problems" class="${severity}">
          ${plural(problems.length + more, 'problem')} in template files
        </h2>
        <span class="aside">${first.place} ${first.message}</span>
      </summary>
      <ul>
        ${problems.map(problemItem)}
      </ul>
      ${after}
    </details>
  </section>`;
};

/** So few that they leave room for the rest. */
const fewProblems = 2;

const problemItem = ({ severity, place, message, check }: ProblemView): Markup =>
  html`<li>
    <b class="${severity}">${severity}</b> ${place === '' ? '' : html`<code>${place}</code>`} ${message}
    <code class="aside">${check}</code>
  </li>`;

/** The headings of the columns of all differences. Each difference repeats them when it is open. */
export const sidesHeading = html`<p class="columns" aria-hidden="true">
  <span>difference</span><span>type</span><span>name</span
  ><span><del>${templateSides.actual}</del> → <ins>${templateSides.desired}</ins></span
  ><span>cause</span><span>what to do</span>
</p>`;

interface ArticleOptions {
  readonly clock: PageClock;
  /** The address of the template's own page; null if there is none. */
  readonly href: string | null;
  readonly sides?: SideNames;
  /** After its differences, and after its subdomains. */
  readonly moreRows?: Markup | string;
  readonly moreSubdomains?: Markup | string;
}

/** A template that differs: its differences, then those of the subdomains that follow it. */
export const templateArticle = (template: TemplateView, options: ArticleOptions): Markup => {
  const { clock, href, sides = templateSides, moreRows = '', moreSubdomains = '' } = options;
  const { title, status, differs, counts, message, rows, subdomains } = template;
  const found = [differs, counts].filter((part) => part !== '').join(', ');
  return html`<article class="of-${status}" data-key="${title}">
    <header>
      <h3>${linked(title, href)} ${stateIcon(status)}</h3>
      <p class="aside">${found === '' ? '' : `${found} · `}${fileOf(template)}</p>
    </header>
    ${message === null ? '' : html`<p class="message">${prose(message, clock)}</p>`}
    ${rowList(rows, sides, clock)} ${moreRows}
    ${subdomains.map((subdomain) => subdomainPart(subdomain, clock))} ${moreSubdomains}
  </article>`;
};

/** The file of a template, and its commit. */
export const fileOf = ({ file, commit }: Pick<TemplateView, 'file' | 'commit'>): Markup =>
  commit === null
    ? html`<code>${file}</code>`
    : html`<code>${file}</code> · ${linked(commit.id, commit.url)}`;

/** The differences of a subdomain, and those of its name servers. */
export const subdomainPart = (
  { subdomain, status, message, rows, answers }: SubdomainView,
  clock: PageClock,
): Markup =>
  html`<section class="subdomain" data-key="${subdomain}">
    <h4>Subdomain ${subdomain} ${stateIcon(status)}</h4>
    ${message === null ? '' : html`<p class="message">${prose(message, clock)}</p>`}
    ${labelledRows(rows, subdomainSides, clock)}
    ${
      answers === null
        ? ''
        : html`<p>Name servers ${stateIcon(answers.status)}</p>
            ${answersPart(answers, clock)}`
    }
  </section>`;

const answersPart = ({ remarks, rows }: AnswersView, clock: PageClock): Markup =>
  html`${remarks.map((remark) => html`<p class="message">${prose(remark, clock)}</p>`)}
  ${labelledRows(rows, answerSides, clock)}`;

const labelledRows = (rows: readonly ReportRow[], names: SideNames, clock: PageClock): Markup | string =>
  rows.length === 0
    ? ''
    : html`<p class="aside"><del>${names.actual}</del> → <ins>${names.desired}</ins></p>
        ${rowList(rows, names, clock)}`;

/** Templates with the same message, which is shown once. `count` may be more than the given templates. */
export const alikeArticle = (
  templates: readonly (Pick<TemplateView, 'title' | 'status' | 'message'> & {
    readonly href: string | null;
  })[],
  count: number,
  clock: PageClock,
): Markup => {
  const [{ status, message } = { status: 'failed', message: null }] = templates;
  return html`<article class="of-${status}" data-key="${status} ${message ?? ''}">
    <header><h3>${String(count)} templates ${stateIcon(status)}</h3></header>
    ${message === null ? '' : html`<p class="message">${prose(message, clock)}</p>`}
    <p class="names">${templates.map(({ title, href }) => html`<span>${linked(title, href)}</span>`)}</p>
    ${count > templates.length ? html`<p class="rest">and ${String(count - templates.length)} more</p>` : ''}
  </article>`;
};

export const linked = (text: string, href: string | null): Markup =>
  href === null ? html`${text}` : html`<a href="${href}">${text}</a>`;
