import { html, joined, type Markup } from './markup.ts';

/** Icons and times on all pages. A state is shown by colour, shape and word. */

export const icons: Readonly<Record<string, readonly [shape: string, word: string, color?: string]>> = {
  'in-sync': ['●', 'in sync'],
  pending: ['○', 'pending'],
  drifted: ['◆', 'differs'],
  suspended: ['⊘', 'suspended', 'held'],
  held: ['■', 'held'],
  failed: ['▲', 'failed'],
  healthy: ['●', 'healthy', 'in-sync'],
  starting: ['○', 'starting', 'pending'],
  failing: ['▲', 'failing', 'failed'],
  denied: ['✕', 'denied', 'failed'],
  applied: ['●', 'applied', 'in-sync'],
  unknown: ['?', 'outcome unknown', 'failed'],
  duplicate: ['◆', 'stored twice', 'drifted'],
};

export const stateIcon = (state: string): Markup => {
  const [shape, word, color = state] = icons[state] ?? ['', state];
  return html`<span class="badge ${color}"><span aria-hidden="true">${shape}</span> ${word}</span>`;
};

/** How a page shows times. */
export interface PageClock {
  /** Ms since the epoch. */
  readonly now: number;
  /** A name of the time zone database. */
  readonly timeZone: string;
}

/** A moment: today's time, or time and date. The status page's script adds the relative time. */
export const moment = (at: number, { now, timeZone }: PageClock): Markup => {
  const [day, time] = partsOf(at, timeZone);
  const [today] = partsOf(now, timeZone);
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${day === today ? '' : `${day} `}${time}</time>`;
};

/** An hour of a chart's axis. */
export const hourOf = (at: number, { timeZone }: PageClock): string => partsOf(at, timeZone)[1].slice(0, 5);

/** A sentence of this program: ISO 8601 timestamps in it are shown like other moments. */
export const prose = (text: string, clock: PageClock): Markup => {
  const parts = text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z)/);
  const shown = parts.map((part, index) => {
    const at = index % 2 === 0 ? Number.NaN : Date.parse(part);
    return Number.isNaN(at) ? html`${part}` : moment(at, clock);
  });
  return joined(shown);
};

/** `2026-11-20` and `20:00:00 UTC`. */
const partsOf = (at: number, timeZone: string): readonly [day: string, time: string] => {
  // Cached: creating one takes longer than everything else here.
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-GB', { ...parts, timeZone });
  formats.set(timeZone, format);
  // `20/11/2026, 20:00:00 UTC`
  const [date, time] = format.format(at).split(', ');
  return [date!.split('/').toReversed().join('-'), time!];
};

const parts = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
} as const;

const formats = new Map<string, Intl.DateTimeFormat>();
