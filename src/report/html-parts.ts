import type { AnswersView } from './answers-view.ts';
import { shorten, shortenPair } from './columns.ts';
import { html, type Markup } from './markup.ts';
import { outcomeWords, type Row } from './row.ts';
import { type ProblemView, statusWords } from './view.ts';

/** What the pages have in common: the rows of a report as HTML. */

export const badge = (status: keyof typeof statusWords): Markup =>
  html`<span class="badge ${status}">${statusWords[status]}</span>`;

export const problemList = (problems: readonly ProblemView[]): Markup =>
  html`<ul class="problems">
    ${problems.map(
      ({ severity, place, message, check }) =>
        html`<li>
          <b class="${severity}">${severity}</b> ${place === '' ? '' : html`<code>${place}</code>`} ${message}
          <code class="aside">${check}</code>
        </li>`,
    )}
  </ul>`;

export const rowList = (rows: readonly Row[]): Markup | string =>
  rows.length === 0
    ? ''
    : html`<ul class="rows">
        ${rows.map(rowItem)}
      </ul>`;

/** What name servers answer, beneath its heading. */
export const answersParts = ({ remarks, rows }: AnswersView): Markup =>
  html`${remarks.map((remark) => html`<p class="message">${remark}</p>`)} ${rowList(rows)}`;

const rowItem = (row: Row): Markup =>
  html`<li class="${row.kind}">
    <span class="sign"><span aria-hidden="true">${row.symbol}</span> ${row.word}</span>
    <code class="type">${row.type}</code> <code class="name">${row.name}</code>
    ${recordParts(row)}
    <div class="why">
      ${row.outcome === null ? '' : html`<b class="${row.outcome}">${outcomeWords[row.outcome]}</b>`}
      <span class="aside">${row.notes.join(' · ')}</span>
      ${row.remarks.map((remark) => html`<p>${remark}</p>`)}
    </div>
  </li>`;

/** What a record says, or in what it changes. */
export const recordParts = ({ content: whole, changes, facts }: RecordParts): Markup =>
  html`<div class="record">
    ${whole === null ? '' : html`<div>${content(whole)}</div>`} ${changes.map(changeOf)}
    ${facts.length === 0 ? '' : html`<div class="aside">${facts.join(', ')}</div>`}
  </div>`;

type RecordParts = Pick<Row, 'content' | 'changes' | 'facts'>;

const changeOf = ({ field, from, to }: Row['changes'][number]): Markup => {
  const [before, after] = shortenPair(from, to, longest);
  return html`<div>
    ${field === 'content' ? '' : `${field} `}<del>${content(from, before)}</del> <span class="to">→</span>
    <ins>${content(to, after)}</ins>
  </div>`;
};

/** Columns of a content that are shown before somebody asks for the whole. */
const longest = 200;

const content = (text: string, short = shorten(text, longest)): Markup =>
  short === text
    ? html`<code>${text}</code>`
    : html`<details>
        <summary><code>${short}</code></summary>
        <code>${text}</code>
      </details>`;
