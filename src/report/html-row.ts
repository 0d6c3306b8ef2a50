import { type PageClock, prose } from './html-words.ts';
import { html, Markup, type MarkupValue } from './markup.ts';
import { outcomeWords, type ReportRow, type RowValue } from './row.ts';

/** The two sides of a difference, and what a pass does about one that nothing holds back. */
export interface Sides {
  readonly actual: string;
  readonly desired: string;
  readonly next?: string;
}

export const templateSides: Sides = { actual: 'at the service', desired: 'in the file' };

/** One line for each difference, with details to open; `more`: what else there is about each. */
export const rowList = (
  rows: readonly ReportRow[],
  sides: Sides,
  clock: PageClock,
  more: (at: number) => MarkupValue = () => null,
): Markup | null =>
  rows.length === 0
    ? null
    : html`<ul class="rows">
        ${rows.map((row, at) => rowItem(row, sides, clock, more(at)))}
      </ul>`;

const rowItem = (row: ReportRow, sides: Sides, clock: PageClock, more: MarkupValue): Markup => {
  const { kind, type, name, outcome, why, where, remarks, toDo } = row;
  return html`<li class="row ${kind}">
    <details>
      <summary>
        ${iconOfRow(row)} <code class="type">${type}</code> <code class="name">${name}</code>
        <span class="sides">${sidesInLine(row, sides)}</span>
        <span class="cause"
          >${outcome !== null && html`<b class="${outcome}">${outcomeWords[outcome]}</b>`}
          ${why.join(' · ')}</span
        >
        ${nextStep(row, sides, clock)}
      </summary>
      ${where.length > 0 && html`<p class="aside">${where.join(' · ')}</p>`}
      ${toDo !== null && remarks.map((remark) => html`<p>${prose(remark, clock)}</p>`)} ${more}
    </details>
  </li>`;
};

export const iconOfRow = ({ sign, word }: Pick<ReportRow, 'sign' | 'word'>): Markup =>
  html`<span class="sign"><span aria-hidden="true">${sign}</span> ${word}</span>`;

/** What a person can do, else the reason, else the usual next step. */
const nextStep = (row: ReportRow, { next = '' }: Sides, clock: PageClock): Markup => {
  const { kind, outcome, remarks, toDo } = row;
  // What is in backquotes is to be copied.
  const commandsIn = (text: string): Markup[] =>
    text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
  const words = toDo === null ? remarks.map((remark) => prose(remark, clock)) : commandsIn(toDo.own());
  if (words.length > 0)
    return html`<span class="todo">${new Markup(words.map(({ source }) => source).join(''))}</span>`;
  const usual = kind === 'surplus' ? 'cannot be deleted' : writes.has(kind) && next;
  return html`<span class="todo usual">${outcome === null && usual}</span>`;
};

const writes: ReadonlySet<ReportRow['kind']> = new Set(['add', 'update', 'park']);

/** The record, or its changes, in one line. */
export const sidesInLine = ({ values, only }: ReportRow, { desired }: Sides): Markup => {
  const facts = values.flatMap((one) => (one.isChanged || one.label === '' ? [] : `${one.label}${one.text}`));
  const rest = facts.length > 0 && html`<span class="aside">${facts.join(', ')}</span>`;
  const record = values.flatMap((one) =>
    one.isChanged || one.label !== '' ? [] : html`<code>${one.text}</code>`,
  );
  if (only === 'desired') return html`<i>missing</i> → <ins>${record}</ins> ${rest}`;
  if (only === 'actual') return html`<del>${record}</del> ${rest} → <i>not ${desired}</i>`;
  const changes = values.flatMap((one) => {
    if (!one.isChanged) return [];
    const [from, to] = marked(one);
    return html`<span
      >${one.label}<del><code>${from}</code></del> → <ins><code>${to}</code></ins></span
    >`;
  });
  return html`${record} <span class="changes">${changes}</span> ${rest}`;
};

/** Both sides of a change, with the part that changes marked. */
const marked = ({ actual, desired }: Extract<RowValue, { isChanged: true }>): [Markup, Markup] => {
  const [from, to] = [lettersOf(actual), lettersOf(desired)];
  const max = Math.min(from.length, to.length);
  let start = 0;
  while (start < max && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < max - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  // Short texts, and texts with little in common, are easier to read without marks.
  const isMarked = Math.max(actual.length, desired.length) > 24 && start + end > 6;
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
