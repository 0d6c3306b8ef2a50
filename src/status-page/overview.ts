import { escapeControl } from '../lib/escape-control.ts';
import { reportBody } from '../report/html.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import { wordOf, type State } from '../report/row.ts';
import { viewOf } from '../report/view.ts';
import type { Report } from '../result.ts';
import { clientSection, daySection, outage, passText, processSection } from './clients.ts';
import { actionBar } from './forms.ts';
import { type Frame, htmlPage } from './frame.ts';
import { addressOf, type Excerpt, type PageQuery, shows } from './query.ts';

/** The status page: what needs a person first, then the rest. */
export const renderOverview = (frame: Frame, { report, summary, counts, left }: Excerpt): string => {
  const { query, clients, root } = frame;
  const view = viewOf(report, clients.length > 1);
  const isFirst = report.run === '';
  const isFiltered = query.show !== null || query.text !== '';
  const isEmpty = view.sections.length + view.calm.length === 0;
  const state = stateOf(report, frame);
  const [last] = clients
    .flatMap(({ lastPass }) => lastPass ?? [])
    .sort((one, other) => other.startedAt - one.startedAt);
  const main = reportBody(view, {
    state,
    why: outage(clients),
    summary: isFirst ? 'the first pass has not ended yet' : summary,
    meta: html`${last === undefined ? 'No pass has ended yet.' : `Last pass ${passText(last)}.`}
    ${!isFirst && report.dryRun && 'Dry run: nothing is written.'}`,
    tools: html`${actionBar(frame, query.client)} ${!isFirst && filters(counts, query)}
    ${isFiltered && isEmpty && nothing}`,
    left,
    calmHref: `./${addressOf({ ...query, show: 'in-sync' })}`,
  });
  return htmlPage({
    frame,
    root,
    title: wordOf(state),
    main: html`${main} ${clientSection(frame)} ${processSection(frame)} ${daySection(frame)}
      <p class="rest"><a href="writes">The last writes</a></p>`,
  });
};

/** In a word. */
const stateOf = ({ run, status }: Report, { clients }: Frame): State => {
  if (clients.some(({ lastError }) => lastError !== null)) return 'failed';
  const isAnyUnknown = clients.some(({ health }) => health === 'starting');
  return run === '' || (status === 'in-sync' && isAnyUnknown) ? 'starting' : status;
};

const nothing = html`<p>Nothing matches. <a href="./">Show all that differs</a></p>`;

/** Links that filter by kind, each with its count, and a search field. */
const filters = (counts: Excerpt['counts'], query: PageQuery): Markup => {
  const { show, client, text } = query;
  const chip = (isCurrent: boolean, to: Partial<PageQuery>, words: MarkupValue): Markup =>
    html`<a href="./${addressOf({ ...query, ...to })}" ${isCurrent && html` aria-current="true"`}
      >${words}</a
    >`;
  return html`<nav id="filters" class="filters" aria-label="What is shown">
    <p class="chips">
      ${chip(show === null, { show: null }, 'all that differs')}
      ${shows.map(([kind, words], at) => {
        const count = counts[at] ?? 0;
        const isShown = count > 0 || show === kind;
        return (
          isShown && chip(show === kind, { show: kind }, html`<b>${count.toLocaleString('en')}</b> ${words}`)
        );
      })}
      ${client !== null && chip(true, { client: null }, `only ${escapeControl(client)}: show all clients`)}
    </p>
    <form role="search" action="./">
      ${show !== null && html`<input type="hidden" name="show" value="${show}" />`}
      ${client !== null && html`<input type="hidden" name="client" value="${client}" />`}
      <label for="q" class="unseen">Template, record, address or file</label>
      <input id="q" name="q" type="search" placeholder="name, address, file …" value="${text}" />
      <button>Filter</button>
    </form>
  </nav>`;
};
