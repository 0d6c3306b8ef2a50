import { html, type Markup } from '../report/markup.ts';
import type { Excerpt } from './excerpt.ts';
import { addressOf, type PageQuery, shows } from './query.ts';
import { count } from './words.ts';

/** Links that filter by kind, each with its count, and a search field. */
export const filters = ({ counts }: Pick<Excerpt, 'counts'>, query: PageQuery): Markup => {
  const chip = (show: PageQuery['show'], words: Markup): Markup => {
    const current = query.show === show ? html` aria-current="true"` : '';
    return html`<a
      data-stay
      data-key="${show ?? 'all'}"
      href="${addressOf({ ...query, show, skip: 0 })}"
      ${current}
      >${words}</a
    >`;
  };
  const kinds = shows.filter(([show]) => counts[show] > 0 || query.show === show);
  return html`<nav id="filters" class="filters" aria-label="What is shown">
    <p class="chips">
      ${chip(null, html`all that differs`)}
      ${kinds.map(([show, words]) => chip(show, html`<b>${count(counts[show])}</b> ${words}`))}
      ${clientChip(query)}
    </p>
    <form role="search" action="/" data-stay>
      ${query.show === null ? '' : html`<input type="hidden" name="show" value="${query.show}" />`}
      ${query.client === null ? '' : html`<input type="hidden" name="client" value="${query.client}" />`}
      <label for="q" class="unseen">Template, record, address or file</label>
      <input id="q" name="q" type="search" placeholder="name, address, file …  ( / )" value="${query.text}" />
      <button>Filter</button>
    </form>
  </nav>`;
};

const clientChip = (query: PageQuery): Markup | string =>
  query.client === null
    ? ''
    : html`<a
        data-stay
        data-key="client"
        aria-current="true"
        href="${addressOf({ ...query, client: null, skip: 0 })}"
        >only ${query.client} <span aria-hidden="true">✕</span
        ><span class="unseen">, show all clients</span></a
      >`;
