import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { linked, problemSection, sidesHeading, templateArticles } from '../report/html-template.ts';
import { icons, stateIcon } from '../report/html-words.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import { problemView, templateView } from '../report/view.ts';
import type { TemplateResult } from '../result.ts';
import { clientSection, outage, passText, processSection } from './clients.ts';
import { daySection } from './day.ts';
import { actionBar } from './forms.ts';
import { type Frame, htmlPage, rest } from './frame.ts';
import { addressOf, type PageQuery, shows, templateAddress } from './query.ts';
import { type Excerpt, limits } from './excerpt.ts';

/** The status page: what needs a person first, then the rest. */
export const renderOverview = (frame: Frame, excerpt: Excerpt): string => {
  const { query, clients, root } = frame;
  const { run, problems, problemCount } = excerpt;
  const state = stateOf(excerpt, frame);
  const [last] = clients
    .flatMap(({ lastPass }) => lastPass ?? [])
    .sort((one, other) => other.startedAt - one.startedAt);
  const more = problemCount - problems.length;
  return htmlPage({
    frame,
    root,
    title: icons[state]?.[1] ?? state,
    main: html`<section class="now ${icons[state]?.[2] ?? state}" aria-labelledby="now-title">
        <h2 id="now-title" class="unseen">State</h2>
        <p class="state">${stateIcon(state)}</p>
        ${outage(clients, frame)}
        <p class="summary" role="status">
          ${run === '' ? 'the first pass has not ended yet' : excerpt.summary}
        </p>
        <p class="meta">
          ${last === undefined ? 'No pass has ended yet.' : html`Last pass ${passText(last, frame)}.`}
          ${run !== '' && excerpt.dryRun && 'Dry run: nothing is written.'}
        </p>
      </section>
      ${actionBar(frame, query.client)} ${run !== '' && filters(excerpt.counts, query)}
      ${problemSection(
        problems.map((one) => problemView(one, clients.length > 1)),
        { after: rest(more, 'problem', 'api/report'), more },
      )}
      ${differing(excerpt, frame)} ${inSync(excerpt, frame)} ${unmanaged(excerpt, frame)}
      ${clientSection(frame)} ${processSection(frame)} ${daySection(frame)}
      <p class="rest"><a href="writes">The last writes</a></p>`,
  });
};

/** In a word. */
const stateOf = ({ run, status }: Excerpt, { clients }: Frame): string => {
  if (clients.some(({ lastError }) => lastError !== null)) return 'failed';
  const isAnyUnknown = clients.some(({ health }) => health === 'starting');
  return run === '' || (status === 'in-sync' && isAnyUnknown) ? 'starting' : status;
};

/** Links that filter by kind, each with its count, and a search field. */
const filters = (counts: Excerpt['counts'], query: PageQuery): Markup => {
  const { show, client, text } = query;
  const chip = (isCurrent: boolean, to: Partial<PageQuery>, words: MarkupValue): Markup =>
    html`<a href="./${addressOf({ ...query, skip: 0, ...to })}" ${isCurrent && html` aria-current="true"`}
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

const differing = ({ groups, groupCount, calmCount, commits }: Excerpt, frame: Frame): MarkupValue => {
  const { query, clients } = frame;
  if (groupCount === 0) {
    const isEmpty = (query.show !== null || query.text !== '') && calmCount === 0;
    return isEmpty && html`<p>Nothing matches. <a href="./">Show all that differs</a></p>`;
  }
  return html`<section aria-labelledby="differences">
    <h2 id="differences" class="unseen">What differs</h2>
    ${sidesHeading}
    ${groups.map(({ shown, count }) => {
      const views = shown.map(({ template, more }) => ({
        ...templateView(template, clients.length > 1, commits),
        href: hrefOf(template, frame),
        more,
      }));
      const [first] = views;
      return templateArticles(
        views,
        count,
        frame,
        first !== undefined && rest(first.more, 'difference', first.href, 'all of this template'),
      );
    })}
    ${leaf(query, limits.groups, groupCount)}
  </section>`;
};

const hrefOf = ({ template, client }: TemplateResult, { clients }: Frame): string =>
  templateAddress(template, clients.length > 1 ? client : null);

/** Links between the pages of a long list. */
const leaf = (query: PageQuery, length: number, all: number): MarkupValue => {
  const { skip: from } = query;
  const to = (skip: number, words: string): Markup =>
    html`<a href="./${addressOf({ ...query, skip: Math.max(0, skip) })}">${words}</a>`;
  return (
    all > length &&
    html`<p class="leaf">
      ${from > 0 && to(from - length, '← previous')}
      <span>${from + 1} to ${Math.min(from + length, all)} of ${all}</span>
      ${from + length < all && to(from + length, 'next →')}
    </p>`
  );
};

/** Named if somebody asks for them, or there is nothing else to show. */
const inSync = ({ groupCount, calm, calmCount }: Excerpt, frame: Frame): MarkupValue => {
  const isAsked = frame.query.show === 'in-sync';
  const query = { ...frame.query, show: 'in-sync', skip: isAsked ? frame.query.skip : 0 } as const;
  if (calmCount === 0) return null;
  if (!isAsked && query.text === '' && (groupCount > 0 || calmCount > fewInSync))
    return html`<p class="calm">
      <a href="./${addressOf(query)}">${plural(calmCount, 'template')} in sync</a>
    </p>`;
  const items = calm.map((template) => {
    const { title, counts } = templateView(template, frame.clients.length > 1, []);
    return html`<span class="in-sync" aria-hidden="true">●</span> ${linked(title, hrefOf(template, frame))}
      <span class="aside">${counts}</span>`;
  });
  return quietSection('in-sync', 'In sync', items, leaf(query, limits.quiet, calmCount));
};

const fewInSync = 60;

/** The templates of the service that no file describes. */
const unmanaged = ({ unmanaged: some, unmanagedCount }: Excerpt, { clients }: Frame): MarkupValue =>
  quietSection(
    'unmanaged',
    `${plural(unmanagedCount, 'template')} without a file`,
    some.map(({ client, template, id, records, hadFile }) => {
      const name = escapeControl(`${clients.length > 1 ? `${client}: ` : ''}${template} (${id})`);
      return html`${name}
        <span class="aside">${plural(records, 'record')}${hadFile && ', its file is gone'}</span>`;
    }),
    rest(unmanagedCount - some.length, 'template', 'api/report'),
  );

const quietSection = (
  id: string,
  heading: string,
  items: readonly Markup[],
  after: MarkupValue,
): MarkupValue =>
  items.length > 0 &&
  html`<section aria-labelledby="${id}">
    <h2 id="${id}">${heading}</h2>
    <ul class="quiet">
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>
    ${after}
  </section>`;
