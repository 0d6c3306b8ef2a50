import { type PageClock, prose } from './html-words.ts';
import { html, joined, type Markup, type MarkupValue } from './markup.ts';
import { outcomeWords, type ReportRow } from './row.ts';

/** One line for each difference, with details to open; `more`: what else there is about each. */
export const rowList = (
  rows: readonly ReportRow[],
  clock: PageClock,
  more: (at: number) => MarkupValue = () => null,
): Markup | null =>
  rows.length === 0
    ? null
    : html`<ul class="rows">
        ${rows.map((row, at) => rowItem(row, clock, more(at)))}
      </ul>`;

const rowItem = (row: ReportRow, clock: PageClock, more: MarkupValue): Markup => {
  const { kind, type, name, outcome, why, where, remark, toDo } = row;
  const said = remark !== null && prose(remark, clock);
  // What is in backquotes is to be copied.
  const step = toDo
    ?.own()
    .split('`')
    .map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
  return html`<li class="row ${kind}">
    <details>
      <summary>
        ${iconOfRow(row)} <code class="type">${type}</code> <code class="name">${name}</code>
        <span class="sides">${sidesInLine(row)}</span>
        <span class="cause"
          >${outcome !== null && html`<b class="${outcome}">${outcomeWords[outcome]}</b>`}
          ${why.join(' · ')}</span
        >
        <span class="todo">${step === undefined ? said : joined(step)}</span>
      </summary>
      ${where.length > 0 && html`<p class="aside">${where.join(' · ')}</p>`}
      ${step !== undefined && said && html`<p>${said}</p>`} ${more}
    </details>
  </li>`;
};

export const iconOfRow = ({ sign, word }: Pick<ReportRow, 'sign' | 'word'>): Markup =>
  html`<span class="sign"><span aria-hidden="true">${sign}</span> ${word}</span>`;

/** The record, or its changes, in one line. */
export const sidesInLine = ({ values, only }: ReportRow): Markup => {
  const same = values.filter(({ desired }) => desired === null);
  const record = same.flatMap(({ label, text }) => (label === '' ? html`<code>${text}</code>` : []));
  const facts = same.flatMap(({ label, text }) => (label === '' ? [] : `${label}${text}`));
  const rest = facts.length > 0 && html`<span class="aside">${facts.join(', ')}</span>`;
  if (only === 'desired') return html`<i>nothing</i> → <ins>${record}</ins> ${rest}`;
  if (only === 'actual') return html`<del>${record}</del> ${rest} → <i>nothing</i>`;
  const changes = values.flatMap(({ label, text, desired }) => {
    if (desired === null) return [];
    const [from, to] = marked(text, desired);
    return html`<span
      >${label}<del><code>${from}</code></del> → <ins><code>${to}</code></ins></span
    >`;
  });
  return html`${record} <span class="changes">${changes}</span> ${rest}`;
};

/** Both sides of a change, with the part that changes marked. */
const marked = (actual: string, desired: string): [Markup, Markup] => {
  const [from, to] = [lettersOf(actual), lettersOf(desired)];
  const max = Math.min(from.length, to.length);
  let start = 0;
  while (start < max && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < max - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  // Short texts, and texts with little in common, are easier to read without marks.
  const isMarked = Math.max(from.length, to.length) > 24 && start + end > 6;
  const side = (letters: readonly string[]): Markup => {
    const rest = letters.length - end;
    const part = (first: number, last?: number): string => letters.slice(first, last).join('');
    if (!isMarked || start === rest) return html`${part(0)}`;
    return html`${part(0, start)}<mark>${part(start, rest)}</mark>${part(rest)}`;
  };
  return [side(from), side(to)];
};

/** With their combining marks. */
const lettersOf = (text: string): string[] => text.match(/.\p{M}*/gsu) ?? [];
