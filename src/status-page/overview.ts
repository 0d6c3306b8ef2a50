import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { differenceSection, problemSection } from '../report/html.ts';
import { html, icons, type Markup, type MarkupValue, stateIcon } from '../report/markup.ts';
import { problemView, templateView } from '../report/view.ts';
import type { TemplateResult } from '../result.ts';
import { clientSection, daySection, outage, passText, processSection } from './clients.ts';
import { actionBar } from './forms.ts';
import { type Frame, htmlPage, rest } from './frame.ts';
import { addressOf, type Excerpt, type PageQuery, shows, templateAddress } from './query.ts';

/** The status page: what needs a person first, then the rest. */
export const renderOverview = (frame: Frame, excerpt: Excerpt): string => {
  const { query, clients, root } = frame;
  const { run, problems, problemCount, groups, groupCount, calmCount, aside } = excerpt;
  const state = stateOf(excerpt, frame);
  const [last] = clients
    .flatMap(({ lastPass }) => lastPass ?? [])
    .sort((one, other) => other.startedAt - one.startedAt);
  const differing = groups.map(({ shown, count }) => {
    const views = shown.map(({ template }) => ({
      ...templateView(template, clients.length > 1, excerpt.commits),
      href: hrefOf(template, frame),
    }));
    const more = rest(shown[0]?.more ?? 0, '', views[0]?.href ?? '', 'all of this template');
    return { shown: views, count, after: more };
  });
  const isFiltered = query.show !== null || query.text !== '';
  return htmlPage({
    frame,
    root,
    title: icons[state]?.[1] ?? state,
    main: html`<section class="now ${icons[state]?.[2] ?? state}" aria-labelledby="now-title">
        <h2 id="now-title" class="unseen">State</h2>
        <p class="state">${stateIcon(state)}</p>
        ${outage(clients)}
        <p class="summary" role="status">
          ${run === '' ? 'the first pass has not ended yet' : excerpt.summary}
        </p>
        <p class="meta">
          ${last === undefined ? 'No pass has ended yet.' : `Last pass ${passText(last)}.`}
          ${run !== '' && excerpt.dryRun && 'Dry run: nothing is written.'}
        </p>
      </section>
      ${actionBar(frame, query.client)} ${run !== '' && filters(excerpt.counts, query)}
      ${problemSection(
        problems.map((one) => problemView(one, clients.length > 1)),
        problemCount,
        rest(problemCount - problems.length, 'problem', 'api/report'),
      )}
      ${differenceSection(differing, rest(groupCount - groups.length, 'template', 'api/report'))}
      ${isFiltered && groupCount === 0 && nothing} ${calmCount > 0 && inSync(calmCount, query)}
      ${aside !== null && html`<p class="aside">${aside}</p>`} ${clientSection(frame)}
      ${processSection(frame)} ${daySection(frame)}
      <p class="rest"><a href="writes">The last writes</a></p>`,
  });
};

/** In a word. */
const stateOf = ({ run, status }: Excerpt, { clients }: Frame): string => {
  if (clients.some(({ lastError }) => lastError !== null)) return 'failed';
  const isAnyUnknown = clients.some(({ health }) => health === 'starting');
  return run === '' || (status === 'in-sync' && isAnyUnknown) ? 'starting' : status;
};

const nothing = html`<p>Nothing matches. <a href="./">Show all that differs</a></p>`;

const inSync = (count: number, query: PageQuery): Markup =>
  html`<p class="calm">
    ${stateIcon('in-sync')}
    <a href="./${addressOf({ ...query, show: 'in-sync' })}">${plural(count, 'template')}</a>
  </p>`;

const hrefOf = ({ template, client }: TemplateResult, { clients }: Frame): string =>
  templateAddress(template, clients.length > 1 ? client : null);

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
