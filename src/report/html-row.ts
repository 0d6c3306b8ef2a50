import { shorten, widthOf } from './columns.ts';
import { type PageClock, prose } from './html-words.ts';
import { html, Markup } from './markup.ts';
import { isChange, labelOf, outcomeWords, type ReportRow, type RowValue } from './row.ts';

/** The names of the two sides of a difference. */
export interface SideNames {
  readonly actual: string;
  readonly desired: string;
  /** The text for a record that the desired side does not have. */
  readonly unlisted: string;
  /** What a pass does about a difference that nothing holds back. */
  readonly next: string;
}

export const templateSides: SideNames = {
  actual: 'at the service',
  desired: 'in the file',
  unlisted: 'not in the file',
  next: 'to be written',
};

/** A daemon with `dryRun` never writes. */
export const dryRunSides: SideNames = { ...templateSides, next: 'not written: dry run' };

export const subdomainSides: SideNames = {
  actual: 'at the subdomain',
  desired: 'in its template',
  unlisted: 'not in its template',
  next: '',
};

export const answerSides: SideNames = {
  actual: 'at the name servers',
  desired: 'at the service',
  unlisted: 'not at the service',
  next: '',
};

/** One line for each difference, with details to open; `more`: what else there is about each. */
export const rowList = (
  rows: readonly ReportRow[],
  names: SideNames,
  clock: PageClock,
  more: (at: number) => readonly Markup[] = () => [],
): Markup | string =>
  rows.length === 0
    ? ''
    : html`<ul class="rows">
        ${rows.map((row, at) => rowItem(row, names, clock, more(at)))}
      </ul>`;

const rowItem = (row: ReportRow, names: SideNames, clock: PageClock, more: readonly Markup[]): Markup => {
  const { kind, type, name, outcome, why, where, remarks, toDo } = row;
  const sentences = remarks.map((remark) => prose(remark, clock));
  if (toDo !== null) sentences.push(html`To do: ${commandsIn(toDo.own())}`);
  return html`<li class="row ${kind}${isFailed(row) ? ' failing' : ''}">
    <details>
      <summary>
        ${iconOfRow(row)} <code class="type">${type}</code> <code class="name">${name}</code>
        <span class="sides">${sidesInLine(row, names)}</span>
        <span class="cause"
          >${outcome === null ? '' : html`<b class="${outcome}">${outcomeWords[outcome]}</b>`}
          ${why.join(' · ')}</span
        >
        ${nextStep(row, names, clock)}
      </summary>
      <dl>
        ${side(names.actual, textsOf(row, 'actual'))} ${side(names.desired, textsOf(row, 'desired'))}
        ${where.length === 0 ? '' : side('where', [html`${where.join(' · ')}`])}
      </dl>
      ${[...sentences.map((one) => html`<p>${one}</p>`), ...more]}
    </details>
  </li>`;
};

export const iconOfRow = ({ sign, word }: Pick<ReportRow, 'sign' | 'word'>): Markup =>
  html`<span class="sign"><span aria-hidden="true">${sign}</span> ${word}</span>`;

/** These outcomes are not certain successes. */
export const isFailed = ({ outcome }: Pick<ReportRow, 'outcome'>): boolean =>
  outcome === 'failed' || outcome === 'unknown';

/** What a person can do, else the reason, else the usual next step. */
const nextStep = (
  { kind, outcome, remarks, toDo }: ReportRow,
  { next }: SideNames,
  clock: PageClock,
): Markup => {
  if (toDo !== null) return html`<span class="todo">${commandsIn(toDo.own())}</span>`;
  const [reason] = remarks;
  if (reason !== undefined) return html`<span class="todo">${prose(reason, clock)}</span>`;
  const usual = kind === 'surplus' ? 'cannot be deleted' : writes.has(kind) ? next : '';
  return html`<span class="todo usual">${outcome === null ? usual : ''}</span>`;
};

/** What is in backquotes is to be copied. */
const commandsIn = (text: string): Markup => {
  const parts = text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
  return new Markup(parts.map(({ source }) => source).join(''));
};

const writes: ReadonlySet<ReportRow['kind']> = new Set(['add', 'update', 'park']);

const side = (name: string, texts: readonly Markup[]): Markup =>
  html`<div>
    <dt>${name}</dt>
    <dd>${texts.map((text) => html`<span>${text}</span>`)}</dd>
  </div>`;

/** The texts of a side. Of what does not change the file may say nothing. */
const textsOf = ({ values }: ReportRow, which: 'actual' | 'desired'): readonly Markup[] => {
  if (values.every((value) => value[which] === null)) return [html`no such record`];
  return values.flatMap((value) => {
    const text = value[which] ?? '';
    if (isChange(value)) return html`${labelOf(value)}<code>${markedIn(value, which)}</code>`;
    if (value.field === 'content') return html`<code>${text}</code>`;
    const isOpen = which === 'desired' && value.actual !== null;
    return isOpen ? [] : html`${labelOf(value)}${text}`;
  });
};

type Change = RowValue & { readonly actual: string; readonly desired: string };

/** The record, or its changes, in one line. */
export const sidesInLine = ({ values }: Pick<ReportRow, 'values'>, names: SideNames): Markup => {
  const changes = values.filter(isChange);
  const same = values.filter((value) => !isChange(value));
  const [content] = same
    .filter(({ field }) => field === 'content')
    .map(({ actual, desired }) => actual ?? desired ?? '');
  const facts = same.filter(({ field }) => field !== 'content');
  const record = content === undefined ? '' : html`<code>${shorten(content, maxContent)}</code>`;
  const rest =
    facts.length === 0
      ? ''
      : html`<span class="aside"
          >${facts.map((value) => `${labelOf(value)}${value.actual ?? value.desired}`).join(', ')}</span
        >`;
  if (values.every(({ actual }) => actual === null))
    return html`<i>missing</i> ${arrow} <ins>${record}</ins> ${rest}`;
  if (values.every(({ desired }) => desired === null))
    return html`<del>${record}</del> ${rest} ${arrow} <i>${names.unlisted}</i>`;
  return html`${record} <span class="changes">${changes.map(changeInLine)}</span> ${rest}`;
};

const arrow = html`<span class="to">→</span>`;

const changeInLine = (value: Change): Markup => {
  const isLong = widthOf(value.actual) + widthOf(value.desired) > maxContent;
  const [from, to] = (['actual', 'desired'] as const).map((which) => markedIn(value, which, isLong));
  return html`<span
    >${labelOf(value)}<del><code>${from!}</code></del> ${arrow} <ins><code>${to!}</code></ins></span
  >`;
};

/** A side of a change, in which the changed part is marked; if it is to be short, with little around that. */
const markedIn = ({ actual, desired }: Change, which: 'actual' | 'desired', isShort = false): Markup => {
  const part = changedPart(actual, desired);
  const whole = which === 'actual' ? part.from : part.to;
  const changed = isShort ? shorten(whole, maxChanged) : whole;
  const [before, after] = isShort ? [endOf(part.before), startOf(part.after)] : [part.before, part.after];
  // Short texts, and texts with little in common, are easier to read without marks.
  const isMarked =
    changed !== '' &&
    Math.max(actual.length, desired.length) > 24 &&
    part.before.length + part.after.length > 6;
  return html`${before}${isMarked ? html`<mark>${changed}</mark>` : changed}${after}`;
};

/** Columns of a record in a line, of each side of a change, and around the changed part. */
const maxContent = 60;
const maxChanged = 40;
const context = 8;

const endOf = (text: string): string =>
  text.length > context + 1 ? `…${Array.from(text).slice(-context).join('')}` : text;
const startOf = (text: string): string =>
  text.length > context + 1 ? `${Array.from(text).slice(0, context).join('')}…` : text;

/** Two texts, split where they differ: the common beginning, both sides, the common end. */
interface ChangedPart {
  readonly before: string;
  readonly from: string;
  readonly to: string;
  readonly after: string;
}

/** Keeps letters and their combining marks together. */
export const changedPart = (from: string, to: string): ChangedPart => {
  const [some, others] = [lettersOf(from), lettersOf(to)];
  const max = Math.min(some.length, others.length);
  let start = 0;
  while (start < max && some[start] === others[start]) start += 1;
  let end = 0;
  while (end < max - start && some.at(-1 - end) === others.at(-1 - end)) end += 1;
  return {
    before: some.slice(0, start).join(''),
    from: some.slice(start, some.length - end).join(''),
    to: others.slice(start, others.length - end).join(''),
    after: some.slice(some.length - end).join(''),
  };
};

const lettersOf = (text: string): string[] => text.match(/.\p{M}*/gsu) ?? [];
