import { shorten, widthOf } from './columns.ts';
import { type PageClock, prose } from './html-words.ts';
import { html, type Markup } from './markup.ts';
import { outcomeWords, type ReportRow } from './row.ts';

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

const rowItem = (row: ReportRow, names: SideNames, clock: PageClock, more: readonly Markup[]): Markup =>
  html`<li class="row ${row.kind}${isFailed(row) ? ' failing' : ''}">
    <details>
      <summary>
        ${iconOfRow(row)} <code class="type">${row.type}</code> <code class="name">${row.name}</code>
        <span class="sides">${sidesInLine(row, names)}</span>
        <span class="cause"
          >${row.outcome === null ? '' : html`<b class="${row.outcome}">${outcomeWords[row.outcome]}</b>`}
          ${row.why.join(' · ')}</span
        >
        ${nextStep(row, names, clock)}
      </summary>
      <dl>
        ${side(names.actual, textsOf(row, 'actual') ?? ['no such record'])}
        ${side(names.desired, textsOf(row, 'desired') ?? ['no such record'])}
        ${row.where.length === 0 ? '' : side('where', [html`${row.where.join(' · ')}`])}
      </dl>
      ${[...sentencesOf(row).map((remark) => html`<p>${prose(remark, clock)}</p>`), ...more]}
    </details>
  </li>`;

const sentencesOf = ({ remarks, toDo }: ReportRow): readonly string[] => [
  ...remarks,
  ...(toDo === null ? [] : [`To do: ${toDo.own}`]),
];

export const iconOfRow = ({ symbol, word }: Pick<ReportRow, 'symbol' | 'word'>): Markup =>
  html`<span class="sign"><span aria-hidden="true">${symbol}</span> ${word}</span>`;

/** These outcomes are not certain successes. */
export const isFailed = ({ outcome }: Pick<ReportRow, 'outcome'>): boolean =>
  outcome === 'failed' || outcome === 'unknown';

/** What a person can do, else the reason, else the usual next step. */
const nextStep = (
  { kind, outcome, remarks, toDo }: ReportRow,
  { next }: SideNames,
  clock: PageClock,
): Markup => {
  const advice = toDo?.own ?? remarks[0];
  if (advice !== undefined) return html`<span class="todo">${prose(advice, clock)}</span>`;
  return html`<span class="todo usual">${outcome === null ? usualStep(kind, next) : ''}</span>`;
};

const usualStep = (kind: ReportRow['kind'], next: string): string =>
  kind === 'surplus' ? 'cannot be deleted' : ['add', 'update', 'park'].includes(kind) ? next : '';

const side = (name: string, texts: readonly (string | Markup)[]): Markup =>
  html`<div>
    <dt>${name}</dt>
    <dd>${texts.map((text) => html`<span>${text}</span>`)}</dd>
  </div>`;

/** The texts of a side, as far as known; null if it has no such record. */
const textsOf = (row: ReportRow, which: 'actual' | 'desired'): readonly Markup[] | null => {
  if (row.missingFrom === which) return null;
  const facts = row.missingFrom !== null || which === 'actual' ? row.facts : [];
  return [
    ...(row.content === null ? [] : [html`<code>${row.content}</code>`]),
    ...row.changes.map((change) => wholeOf(change, which)),
    ...facts.map((fact) => html`${fact}`),
  ];
};

type HtmlChange = ReportRow['changes'][number];

const wholeOf = ({ field, from, to }: HtmlChange, which: 'actual' | 'desired'): Markup => {
  const part = changedPart(from, to);
  const changed = which === 'actual' ? part.from : part.to;
  return html`${labelOf(field)}<code
      >${isWorthMarking(part, from, to) ? html`${part.before}${marked(changed)}${part.after}` : `${part.before}${changed}${part.after}`}</code
    >`;
};

/** The record, or its changes, in one line. */
export const sidesInLine = (
  { content, changes, facts, missingFrom }: Pick<ReportRow, 'content' | 'changes' | 'facts' | 'missingFrom'>,
  names: SideNames,
): Markup => {
  const record = content === null ? '' : html`<code>${shorten(content, maxContent)}</code>`;
  const rest = facts.length === 0 ? '' : html`<span class="aside">${facts.join(', ')}</span>`;
  if (missingFrom === 'actual') return html`<i>missing</i> ${arrow} <ins>${record}</ins> ${rest}`;
  if (missingFrom === 'desired') return html`<del>${record}</del> ${rest} ${arrow} <i>${names.unlisted}</i>`;
  return html`${record} <span class="changes">${changes.map(changeInLine)}</span> ${rest}`;
};

const arrow = html`<span class="to">→</span>`;

const changeInLine = ({ field, from, to }: HtmlChange): Markup => {
  const part = changedPart(from, to);
  const isLong = widthOf(from) + widthOf(to) > maxContent;
  const [before, after] = isLong ? [endOf(part.before), startOf(part.after)] : [part.before, part.after];
  const isMarked = isWorthMarking(part, from, to);
  const shown = (text: string): Markup => {
    const changed = isLong ? shorten(text, maxChanged) : text;
    return isMarked ? html`${before}${marked(changed)}${after}` : html`${before}${changed}${after}`;
  };
  return html`<span
    >${labelOf(field)}<del><code>${shown(part.from)}</code></del> ${arrow}
    <ins><code>${shown(part.to)}</code></ins></span
  >`;
};

const labelOf = (field: HtmlChange['field']): string => (field === 'content' ? '' : `${field} `);

const marked = (text: string): Markup | string => (text === '' ? '' : html`<mark>${text}</mark>`);

/** Short texts, and texts with little in common, are easier to read without marks. */
const isWorthMarking = (
  { before, after }: ReturnType<typeof changedPart>,
  from: string,
  to: string,
): boolean => Math.max(from.length, to.length) > 24 && before.length + after.length > 6;

/** Columns of a record in a line, of each side of a change, and around the changed part. */
const maxContent = 60;
const maxChanged = 40;
const context = 8;

const endOf = (text: string): string => (text.length > context + 1 ? `…${cut(text, -context)}` : text);
const startOf = (text: string): string => (text.length > context + 1 ? `${cut(text, context)}…` : text);

const cut = (text: string, count: number): string => {
  const letters = Array.from(text);
  return (count < 0 ? letters.slice(count) : letters.slice(0, count)).join('');
};

/** Two texts, split where they differ. */
interface ChangedPart {
  /** The common beginning. */
  readonly before: string;
  readonly from: string;
  readonly to: string;
  /** The common end. */
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
    after: end === 0 ? '' : some.slice(-end).join(''),
  };
};

const lettersOf = (text: string): string[] => text.match(/.\p{M}*/gsu) ?? [];
