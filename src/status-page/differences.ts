import type { Excerpt } from '../report/excerpt.ts';
import { answersParts, problemList, rowList } from '../report/html-parts.ts';
import { html, type Markup } from '../report/markup.ts';
import { isQuiet, type SubdomainView, type TemplateView, type View } from '../report/view.ts';
import { rest, sign } from './words.ts';

/** What differs, template by template; what is wrong in files; and what is in sync. */
export const differenceSections = (newest: Excerpt, view: View): Markup => {
  const all = view.templates.map((template, index) => ({ template, more: newest.more[index] ?? nothing }));
  const differing = all.filter(({ template }) => !isQuiet(template));
  const quiet = all.filter(({ template }) => isQuiet(template));
  return html`${
    view.problems.length === 0
      ? ''
      : html`<section aria-labelledby="problems">
          <h2 id="problems">Problems in template files</h2>
          ${problemList(view.problems)} ${rest(newest.moreProblems, 'problem', report)}
        </section>`
  }
  ${
    differing.length === 0
      ? ''
      : html`<section aria-labelledby="differences">
          <h2 id="differences">What differs</h2>
          ${differing.map(({ template, more }) => templateArticle(template, more))}
          ${rest(newest.moreDiffering, 'template', report)}
        </section>`
  }
  ${
    quiet.length === 0
      ? ''
      : html`<section aria-labelledby="in-sync">
          <h2 id="in-sync">In sync</h2>
          <ul class="quiet">
            ${quiet.map(({ template }) => quietItem(template))}
          </ul>
          ${rest(newest.moreInSync, 'template', report)}
        </section>`
  }`;
};

const report = '/api/report';
const nothing = { differences: 0, subdomains: 0, subdomainDifferences: 0 };

const templateArticle = (template: TemplateView, more: Excerpt['more'][number]): Markup =>
  html`<article data-key="${template.title}">
    <h3>${template.title} ${sign(template.status)}</h3>
    <p class="aside">${template.counts === '' ? '' : `${template.counts} · `}<code>${template.file}</code></p>
    ${template.message === null ? '' : html`<p class="message">${template.message}</p>`}
    ${rowList(template.rows)} ${rest(more.differences, 'difference', report)}
    ${template.subdomains.map(subdomainPart)} ${rest(more.subdomainDifferences, 'difference', report)}
    ${rest(more.subdomains, 'subdomain', report)}
  </article>`;

const subdomainPart = ({ subdomain, status, message, rows, answers }: SubdomainView): Markup =>
  html`<section class="subdomain" data-key="${subdomain}">
    <h4>Subdomain ${subdomain} ${sign(status)}</h4>
    ${message === null ? '' : html`<p class="message">${message}</p>`} ${rowList(rows)}
    ${
      answers === null
        ? ''
        : html`<p>Name servers ${sign(answers.status)}</p>
            ${answersParts(answers)}`
    }
  </section>`;

const quietItem = ({ title, counts, file }: TemplateView): Markup =>
  html`<li>
    <span class="in-sync" aria-hidden="true">●</span> <b>${title}</b> <span>${counts}</span>
    <code class="aside">${file}</code>
  </li>`;
