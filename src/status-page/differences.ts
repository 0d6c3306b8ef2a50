import { plural } from '../lib/plural.ts';
import { alikeArticle, linked, problemSection, sidesHeading, templateArticle } from '../report/html-parts.ts';
import { dryRunSides, templateSides } from '../report/html-row.ts';
import type { PageClock } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import { templateView, problemView } from '../report/view.ts';
import { type Excerpt, limits, type ShownTemplate } from './excerpt.ts';
import type { PageFacts } from './facts.ts';
import { addressOf, type PageQuery } from './query.ts';
import { count, rest } from './words.ts';
import { escapeControl } from '../lib/escape-control.ts';

/** What differs, the worst first; problems of files; and what is in sync. */
export const differenceSections = (facts: PageFacts): Markup => {
  const { newest, query } = facts;
  return html`${problemPart(newest)} ${differingSection(newest, query, facts)} ${calmSection(newest, query)}`;
};

const problemPart = ({ report, hasSeveralClients, moreProblems, groupCount }: Excerpt): Markup | string =>
  problemSection(
    report.problems.map((problem) => problemView(problem, hasSeveralClients)),
    { isAlone: groupCount === 0, after: rest(moreProblems, 'problem', '/api/report'), more: moreProblems },
  );

const differingSection = (newest: Excerpt, query: PageQuery, clock: PageClock): Markup | string => {
  const { groups, groupCount, hasSeveralClients, report } = newest;
  if (groupCount === 0) {
    const isFiltered = query.show !== null || query.text !== '';
    return isFiltered && newest.calm.length === 0
      ? html`<section>
          <p>Nothing matches. <a data-stay href="/">Show all that differs</a></p>
        </section>`
      : '';
  }
  return html`<section aria-labelledby="differences">
    <h2 id="differences" class="unseen">What differs</h2>
    ${sidesHeading}
    ${groups.flatMap(({ templates, count: size }) =>
      size > 1
        ? alikeArticle(
            templates.map(({ template, href }) => ({
              ...templateView(template, hasSeveralClients, report.commits),
              href,
            })),
            size,
            clock,
          )
        : templates.map((shown) => shownTemplate(shown, newest, clock)),
    )}
    ${leaf(query, groups.length, groupCount)}
  </section>`;
};

const shownTemplate = (
  { template, href, more }: ShownTemplate,
  { hasSeveralClients, report }: Excerpt,
  clock: PageClock,
): Markup =>
  templateArticle(templateView(template, hasSeveralClients, report.commits), {
    clock,
    sides: report.dryRun ? dryRunSides : templateSides,
    href,
    moreRows: rest(more.differences, 'difference', href, 'all of this template'),
    moreSubdomains: html`${rest(more.subdomainDifferences, 'difference', href, 'all of this template')}
    ${rest(more.subdomains, 'subdomain', href, 'all of this template')}`,
  });

/** Links between the pages of a long list. */
const leaf = (query: PageQuery, shown: number, all: number): Markup | string => {
  if (shown === all) return '';
  const { skip: from } = query;
  const to = (start: number, words: string): Markup =>
    html`<a href="${addressOf({ ...query, skip: Math.max(0, start) })}">${words}</a>`;
  return html`<p class="leaf">
    ${from > 0 ? to(from - limits.groups, '← previous') : ''}
    <span>${count(from + 1)} to ${count(from + shown)} of ${count(all)}</span>
    ${from + shown < all ? to(from + shown, 'next →') : ''}
  </p>`;
};

const calmSection = (newest: Excerpt, query: PageQuery): Markup | string => {
  const { calm, calmCount, counts, hasSeveralClients, report } = newest;
  if (calmCount === 0) return '';
  if (calm.length === 0) {
    return html`<p class="calm">
      <a data-stay href="${addressOf({ ...query, show: 'in-sync', skip: 0 })}"
        >${plural(counts['in-sync'], 'template')} in sync</a
      >
    </p>`;
  }
  const from = query.show === 'in-sync' ? query.skip : 0;
  const next = from + calm.length;
  return html`<section aria-labelledby="in-sync">
    <h2 id="in-sync">In sync</h2>
    <ul class="quiet">
      ${calm.map(({ template, href }) => {
        const { title, counts: words } = templateView(template, hasSeveralClients, report.commits);
        return html`<li data-key="${title}">
          <span class="in-sync" aria-hidden="true">●</span> ${linked(title, href)}
          <span class="aside">${words}</span>
        </li>`;
      })}
    </ul>
    ${rest(calmCount - next, 'template', addressOf({ ...query, show: 'in-sync', skip: next }), 'next')}
  </section>`;
};

/** The templates of the service that no file describes. */
export const unmanagedSection = ({
  report: { unmanaged },
  moreUnmanaged,
  hasSeveralClients,
}: Excerpt): Markup | string =>
  unmanaged.length === 0
    ? ''
    : html`<section aria-labelledby="unmanaged">
        <h2 id="unmanaged">${plural(unmanaged.length + moreUnmanaged, 'template')} without a file</h2>
        <p class="aside">They stay at the service as they are. <code>import</code> writes files for them.</p>
        <ul class="quiet">
          ${unmanaged.map(({ client, template, id, records, hadFile }) => {
            const title = escapeControl(`${hasSeveralClients ? `${client}: ` : ''}${template} (${id})`);
            return html`<li data-key="${title}">
              ${title}
              <span class="aside">${plural(records, 'record')}${hadFile ? ', its file is gone' : ''}</span>
            </li>`;
          })}
        </ul>
        ${rest(moreUnmanaged, 'template', '/api/report')}
      </section>`;
