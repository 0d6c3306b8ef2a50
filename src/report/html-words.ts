import { html, Markup } from './markup.ts';

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
export const prose = (text: string, clock: PageClock): Markup =>
  new Markup(
    text
      .split(isoMoment)
      .map((part, index) => (index % 2 === 0 ? html`${part}` : momentIn(part, clock)).source)
      .join(''),
  );

const isoMoment = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z)/;

const momentIn = (text: string, clock: PageClock): Markup =>
  Number.isNaN(Date.parse(text)) ? html`${text}` : moment(Date.parse(text), clock);

/** `2026-11-20` and `20:00:00 UTC`. */
const partsOf = (at: number, timeZone: string): readonly [day: string, time: string] => {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  return [
    `${of('year')}-${of('month')}-${of('day')}`,
    `${of('hour')}:${of('minute')}:${of('second')} ${of('timeZoneName')}`,
  ];
};

const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached: creating one takes longer than everything else here. */
const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'short',
    });
  formats.set(timeZone, format);
  return format;
};
