import { html, Markup } from './markup.ts';

/** Signs and times as all pages show them. A state is told by colour, by shape and by word. */

export const signs: Readonly<Record<string, readonly [shape: string, word: string, color?: string]>> = {
  'in-sync': ['●', 'in sync'],
  pending: ['○', 'pending'],
  drifted: ['◆', 'drifted'],
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

export const sign = (state: string): Markup => {
  const [shape, word, color = state] = signs[state] ?? ['', state];
  return html`<span class="badge ${color}"><span aria-hidden="true">${shape}</span> ${word}</span>`;
};

/** How a page tells times. */
export interface PageClock {
  /** Ms since the epoch. */
  readonly now: number;
  /** A name of the time zone database. */
  readonly timeZone: string;
}

/** A moment: the time of today, or else with its date. The status page's script adds how long it is from now. */
export const moment = (at: number, { now, timeZone }: PageClock): Markup => {
  const [day, time] = partsOf(at, timeZone);
  const [today] = partsOf(now, timeZone);
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${day === today ? '' : `${day} `}${time}</time>`;
};

/** The hour of a picture's axis. */
export const hourOf = (at: number, { timeZone }: PageClock): string => partsOf(at, timeZone)[1].slice(0, 5);

/** A sentence of the program's: moments in it, which stand there as ISO 8601, are told like all others. */
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

/** To make one takes longer than all else here. */
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
