import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { ageOf, isFaulty, serverName } from '../report/answers-view.ts';
import { linked, problemSection, sidesHeading, sidesOf, templateArticles } from '../report/html-template.ts';
import { icons, stateIcon } from '../report/html-words.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import { problemView, templateView } from '../report/view.ts';
import { actionBar } from './acting.ts';
import { passSection } from './chart.ts';
import { causes, clientSection, passesLine, processSection } from './clients.ts';
import { type Excerpt, pageLength } from './excerpt.ts';
import type { PageFacts } from './facts.ts';
import { framed } from './frame.ts';
import { rest, table } from './parts.ts';
import { addressOf, type PageQuery, shows } from './query.ts';

/** The status page: what needs a person first, then the rest. */
export const renderOverview = (facts: PageFacts): string => {
  const { newest, clients, query, day, passes, fleet } = facts;
  const { report, hasSeveralClients, moreProblems, groupCount } = newest;
  const hasReport = report.run !== '';
  const state = stateOf(facts);
  const acting = clients.filter(({ client }) => query.client === null || client === query.client);
  return framed({
    frame: facts,
    state,
    title: null,
    main: html`<section class="now ${icons[state]?.[2] ?? state}" aria-labelledby="now-title">
        <h2 id="now-title" class="unseen">State</h2>
        <p class="state">${stateIcon(state)}</p>
        ${causes(clients, facts)}
        <p class="summary" role="status">
          ${hasReport ? newest.summary : 'the first pass has not ended yet'}
        </p>
        <p class="meta">
          ${passesLine(clients, facts)} ${report.dryRun && hasReport && 'Dry run: nothing is written.'}
        </p>
      </section>
      ${actionBar(facts, { client: query.client }, acting)} ${hasReport && filters(newest, query)}
      ${problemSection(
        report.problems.map((problem) => problemView(problem, hasSeveralClients)),
        { isAlone: groupCount === 0, after: rest(moreProblems, 'problem', 'api/report'), more: moreProblems },
      )}
      ${differing(facts)} ${inSync(newest, query)} ${unmanaged(newest)} ${layerSection(newest)}
      ${clientSection(clients, facts)} ${processSection(fleet, facts)} ${passSection(day, passes, facts)}
      <p class="rest"><a href="writes">The last writes</a></p>`,
  });
};

/** In a word. */
const stateOf = ({ newest: { report }, clients }: PageFacts): string => {
  if (clients.some(({ trouble }) => trouble !== null)) return 'failed';
  const isAnyUnknown = clients.some(({ health }) => health === 'starting');
  return report.run === '' || (report.status === 'in-sync' && isAnyUnknown) ? 'starting' : report.status;
};

/** Links that filter by kind, each with its count, and a search field. */
const filters = ({ counts }: Excerpt, query: PageQuery): Markup => {
  const chip = (isCurrent: boolean, to: Partial<PageQuery>, words: Markup): Markup =>
    html`<a href="./${addressOf({ ...query, skip: 0, ...to })}" ${isCurrent && html` aria-current="true"`}
      >${words}</a
    >`;
  const hidden = (name: string, value: string | null): MarkupValue =>
    value !== null && html`<input type="hidden" name="${name}" value="${value}" />`;
  return html`<nav id="filters" class="filters" aria-label="What is shown">
    <p class="chips">
      ${chip(query.show === null, { show: null }, html`all that differs`)}
      ${shows
        .filter(([show]) => counts[show] > 0 || query.show === show)
        .map(([show, words]) =>
          chip(query.show === show, { show }, html`<b>${counts[show].toLocaleString('en')}</b> ${words}`),
        )}
      ${
        query.client !== null &&
        chip(
          true,
          { client: null },
          html`only ${query.client} <span aria-hidden="true">✕</span
            ><span class="unseen">, show all clients</span>`,
        )
      }
    </p>
    <form role="search" action="./">
      ${hidden('show', query.show)} ${hidden('client', query.client)}
      <label for="q" class="unseen">Template, record, address or file</label>
      <input id="q" name="q" type="search" placeholder="name, address, file …  ( / )" value="${query.text}" />
      <button>Filter</button>
    </form>
  </nav>`;
};

const differing = (facts: PageFacts): MarkupValue => {
  const { newest, query } = facts;
  const { groups, groupCount, hasSeveralClients, report, calm } = newest;
  if (groupCount === 0) {
    const isFiltered = query.show !== null || query.text !== '';
    const isEmpty = isFiltered && calm.length === 0;
    return (
      isEmpty &&
      html`<section>
        <p>Nothing matches. <a href="./">Show all that differs</a></p>
      </section>`
    );
  }
  const sides = sidesOf({ isReadOnly: report.dryRun });
  return html`<section aria-labelledby="differences">
    <h2 id="differences" class="unseen">What differs</h2>
    ${sidesHeading}
    ${groups.map(({ templates, count }) => {
      const [{ more, href } = { more: 0, href: '' }] = templates;
      const shown = templates.map((one) => ({
        ...templateView(one.template, hasSeveralClients, report.commits),
        href: one.href,
      }));
      const after = rest(more, 'difference', href, 'all of this template');
      return templateArticles(shown, count, { sides, clock: facts, after });
    })}
    ${leaf(query, groups.length, groupCount)}
  </section>`;
};

/** Links between the pages of a long list. */
const leaf = (query: PageQuery, shown: number, all: number): MarkupValue => {
  const { skip: from } = query;
  const to = (skip: number, words: string): Markup =>
    html`<a href="./${addressOf({ ...query, skip: Math.max(0, skip) })}">${words}</a>`;
  return (
    shown < all &&
    html`<p class="leaf">
      ${from > 0 && to(from - pageLength, '← previous')}
      <span>${from + 1} to ${from + shown} of ${all}</span>
      ${from + shown < all && to(from + shown, 'next →')}
    </p>`
  );
};

const inSync = (newest: Excerpt, query: PageQuery): MarkupValue => {
  const { calm, calmCount, counts, hasSeveralClients, report } = newest;
  const address = (skip: number): string => `./${addressOf({ ...query, show: 'in-sync', skip })}`;
  if (calmCount === 0) return null;
  if (calm.length === 0)
    return html`<p class="calm">
      <a href="${address(0)}">${plural(counts['in-sync'], 'template')} in sync</a>
    </p>`;
  const next = (query.show === 'in-sync' ? query.skip : 0) + calm.length;
  return html`<section aria-labelledby="in-sync">
    <h2 id="in-sync">In sync</h2>
    <ul class="quiet">
      ${calm.map(({ template, href }) => {
        const { title, counts: words } = templateView(template, hasSeveralClients, report.commits);
        return html`<li>
          <span class="in-sync" aria-hidden="true">●</span> ${linked(title, href)}
          <span class="aside">${words}</span>
        </li>`;
      })}
    </ul>
    ${rest(calmCount - next, 'template', address(next), 'next')}
  </section>`;
};

/** The templates of the service that no file describes. */
const unmanaged = ({ report, moreUnmanaged, hasSeveralClients }: Excerpt): MarkupValue =>
  report.unmanaged.length > 0 &&
  html`<section aria-labelledby="unmanaged">
    <h2 id="unmanaged">${plural(report.unmanaged.length + moreUnmanaged, 'template')} without a file</h2>
    <p class="aside">They stay at the service as they are. <code>import</code> writes files for them.</p>
    <ul class="quiet">
      ${report.unmanaged.map(
        ({ client, template, id, records, hadFile }) =>
          html`<li>
            ${escapeControl(`${hasSeveralClients ? `${client}: ` : ''}${template} (${id})`)}
            <span class="aside">${plural(records, 'record')}${hadFile && ', its file is gone'}</span>
          </li>`,
      )}
    </ul>
    ${rest(moreUnmanaged, 'template', 'api/report')}
  </section>`;

const layerSection = ({ layers, moreLayers }: Excerpt): MarkupValue =>
  layers.length > 0 &&
  html`<section aria-labelledby="layers">
    <h2 id="layers">From file to name servers</h2>
    ${table(
      'Each subdomain in four layers: file, template, service, name servers',
      ['Subdomain', 'File to template', 'Template to service', 'Service to name servers'],
      layers.map(layerRow),
    )}
    ${rest(moreLayers, 'subdomain', 'api/report')}
  </section>`;

const layerRow = ({ template, subdomain: { subdomain, status, answers } }: Excerpt['layers'][number]) => {
  const isStopped = template.status === 'held' || template.status === 'suspended';
  const compared = template.differences.length > 0 ? 'drifted' : 'in-sync';
  const lines = [
    ...ageOf(answers),
    ...answers.servers.slice(0, 8).map((server) => {
      const serial = server.serial === null ? '' : ` serial ${server.serial}`;
      return `${serverName(server)}${serial}${isFaulty(server) ? ` ${server.status}` : ''}`;
    }),
  ];
  return [
    escapeControl(subdomain),
    html`${stateIcon(isStopped ? template.status : compared)}
      <p class="aside">${escapeControl(template.template)}</p>`,
    stateIcon(status),
    html`${stateIcon(answers.status)}
    ${lines.map((line) => html`<p class="aside">${escapeControl(line)}</p>`)}`,
  ];
};
