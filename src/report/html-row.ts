import { shorten, widthOf } from './columns.ts';
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
  return html`<li class="row ${kind}${isFailed(row) && ' failing'}">
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
      ${
        !isWholeInLine(row) &&
        html`<dl>
          ${side(sides.actual, textsOf(row, 'actual'))} ${side(sides.desired, textsOf(row, 'desired'))}
        </dl>`
      }
      ${where.length > 0 && html`<p class="aside">${where.join(' · ')}</p>`}
      ${toDo !== null && remarks.map((remark) => html`<p>${prose(remark, clock)}</p>`)} ${more}
    </details>
  </li>`;
};

/** Whether the line says everything, and something else is to be opened. */
const isWholeInLine = ({ values, where }: ReportRow): boolean => where.length > 0 && !values.some(isLong);

/** Too long for a line that shows it, or both sides of it. */
const isLong = (value: RowValue): boolean =>
  widthOf(value.isChanged ? value.actual + value.desired : value.text) > maxContent;

export const iconOfRow = ({ sign, word }: Pick<ReportRow, 'sign' | 'word'>): Markup =>
  html`<span class="sign"><span aria-hidden="true">${sign}</span> ${word}</span>`;

/** These outcomes are not certain successes. */
export const isFailed = ({ outcome }: Pick<ReportRow, 'outcome'>): boolean =>
  outcome === 'failed' || outcome === 'unknown';

/** What a person can do, else the reason, else the usual next step. */
const nextStep = (row: ReportRow, { next = '' }: Sides, clock: PageClock): Markup => {
  const { kind, outcome, remarks, toDo } = row;
  // What is in backquotes is to be copied.
  const commandsIn = (text: string): Markup[] =>
    text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
  const words = toDo === null ? remarks.map((remark) => prose(remark, clock)) : commandsIn(toDo.own());
  if (words.length > 0) return html`<span class="todo">${joined(words)}</span>`;
  const usual = kind === 'surplus' ? 'cannot be deleted' : writes.has(kind) && next;
  return html`<span class="todo usual">${outcome === null && usual}</span>`;
};

const writes: ReadonlySet<ReportRow['kind']> = new Set(['add', 'update', 'park']);

const joined = (parts: readonly Markup[]): Markup => new Markup(parts.map(({ source }) => source).join(''));

const side = (name: string, texts: readonly MarkupValue[]): Markup =>
  html`<div>
    <dt>${name}</dt>
    <dd>${texts.map((text) => html`<span>${text}</span>`)}</dd>
  </div>`;

/** The texts of a side. Of what does not change the file may say nothing. */
const textsOf = ({ values, only }: ReportRow, which: 'actual' | 'desired'): readonly MarkupValue[] => {
  if (only !== null && only !== which) return ['no such record'];
  return values.flatMap((value) => {
    const { label } = value;
    if (value.isChanged) return html`${label}<code>${markedIn(value, which)}</code>`;
    if (label === '') return html`<code>${value.text}</code>`;
    return which === 'desired' && only === null ? [] : `${label}${value.text}`;
  });
};

/** The record, or its changes, in one line. */
export const sidesInLine = ({ values, only }: ReportRow, { desired }: Sides): Markup => {
  const changes = values.filter((value) => value.isChanged);
  const same = values.filter((value) => !value.isChanged);
  const facts = same.filter(({ label }) => label !== '');
  const record = same
    .filter(({ label }) => label === '')
    .map(({ text }) => html`<code>${shorten(text, maxContent)}</code>`);
  const rest =
    facts.length > 0 &&
    html`<span class="aside">${facts.map(({ label, text }) => `${label}${text}`).join(', ')}</span>`;
  if (only === 'desired') return html`<i>missing</i> → <ins>${record}</ins> ${rest}`;
  if (only === 'actual') return html`<del>${record}</del> ${rest} → <i>not ${desired}</i>`;
  return html`${record} <span class="changes">${changes.map(changeInLine)}</span> ${rest}`;
};

type Change = Extract<RowValue, { isChanged: true }>;

const changeInLine = (value: Change): Markup => {
  const isShort = isLong(value);
  const [from, to] = (['actual', 'desired'] as const).map((which) => markedIn(value, which, isShort));
  return html`<span
    >${value.label}<del><code>${from!}</code></del> → <ins><code>${to!}</code></ins></span
  >`;
};

/** A side of a change, in which the changed part is marked; if it is to be short, with little around that. */
const markedIn = ({ actual, desired }: Change, which: 'actual' | 'desired', isShort = false): Markup => {
  const [letters, others] =
    which === 'actual' ? [lettersOf(actual), lettersOf(desired)] : [lettersOf(desired), lettersOf(actual)];
  const max = Math.min(letters.length, others.length);
  let start = 0;
  while (start < max && letters[start] === others[start]) start += 1;
  let end = letters.length;
  const shift = others.length - letters.length;
  while (end > start && end + shift > start && letters[end - 1] === others[end + shift - 1]) end -= 1;
  const [before, whole, after] = [letters.slice(0, start), letters.slice(start, end), letters.slice(end)];
  const changed = isShort ? shorten(whole.join(''), maxChanged) : whole.join('');
  const isCut = (text: readonly string[]): boolean => isShort && text.length > context + 1;
  // Short texts, and texts with little in common, are easier to read without marks.
  const isMarked =
    changed !== '' &&
    Math.max(actual.length, desired.length) > 24 &&
    before.join('').length + after.join('').length > 6;
  return html`${isCut(before) ? `…${before.slice(-context).join('')}` : before.join('')}${
    isMarked ? html`<mark>${changed}</mark>` : changed
  }${isCut(after) ? `${after.slice(0, context).join('')}…` : after.join('')}`;
};

/** With their combining marks. */
const lettersOf = (text: string): string[] => text.match(/.\p{M}*/gsu) ?? [];

/** Columns of a record in a line, of each side of a change, and letters around the changed part. */
const maxContent = 60;
const maxChanged = 40;
const context = 8;
