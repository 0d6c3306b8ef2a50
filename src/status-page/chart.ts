import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { hourOf, moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, Markup } from '../report/markup.ts';
import { slotLength, type PassEntry, type SummarySlot } from './facts.ts';
import { duration, reasonOf, table } from './parts.ts';

/** The passes of the last day as a chart, and the last ones as a table. */
export const passSection = (
  day: readonly SummarySlot[],
  passes: readonly PassEntry[],
  clock: PageClock,
): Markup =>
  html`<section aria-labelledby="passes">
    <h2 id="passes">Last 24 hours</h2>
    ${plot(day, clock)}
    ${
      passes.length > 0 &&
      html`<details id="last-passes">
        <summary>The last ${passes.length === 1 ? 'pass' : `${passes.length} passes`}, one by one</summary>
        ${table(
          'The last passes, the newest first',
          ['Started', 'Client', 'Why', 'Took', 'Written', 'Left', 'Ended'],
          passes.map((pass) => [
            moment(pass.startedAt, clock),
            escapeControl(pass.client),
            reasonOf(pass.trigger),
            duration(pass.durationMs),
            pass.written,
            pass.left ?? 'unknown',
            html`${stateIcon(pass.status)}
            ${pass.error !== null && html`<p class="why">${prose(escapeControl(pass.error), clock)}</p>`}`,
          ]),
        )}
      </details>`
    }
  </section>`;

/** The day as a chart: differences above, passes below; and the same in words. */
const plot = (day: readonly SummarySlot[], clock: PageClock): Markup => {
  const highest = Math.max(1, ...day.map(({ left, written }) => (left ?? 0) + written));
  return html`<figure>
    <figcaption>${inWords(day)}</figcaption>
    ${day.some(({ passes, left }) => passes > 0 || left !== null) && picture(day, highest, clock)}
  </figure>`;
};

const picture = (day: readonly SummarySlot[], highest: number, clock: PageClock): Markup =>
  html`<div class="plot">
      <p class="scale" aria-hidden="true"><span>${highest}</span><span>0</span></p>
      <svg viewBox="0 0 ${day.length * step} 100" preserveAspectRatio="none" aria-hidden="true">
        ${day.map((slot, index) => column(slot, index * step, highest))}
      </svg>
      <p class="axis" aria-hidden="true">${hours(day, clock).map((hour) => html`<span>${hour}</span>`)}</p>
    </div>
    <ul class="legend" aria-hidden="true">
      <li><i class="left"></i>differences left</li>
      <li><i class="written"></i>written by passes</li>
      <li><i class="pass"></i>worst result per 15 minutes</li>
    </ul>`;

const step = 10;
/** The height of the upper part, for differences; passes are below. */
const ground = 74;

const column = ({ passes, worst, written, left }: SummarySlot, x: number, highest: number): Markup => {
  const height = (count: number): number => (count === 0 ? 0 : Math.max(3, (count / highest) * (ground - 4)));
  const drift = height(left ?? 0);
  const mended = Math.min(height(written), ground - drift);
  return new Markup(
    [
      bar(left === null ? 'none' : 'base', x, ground, 1),
      bar('left', x, ground - drift, drift),
      bar('written', x, ground - drift - mended, mended),
      passes === 0 || worst === null ? '' : bar(`pass ${worst}`, x, 100 - tall[worst], tall[worst]),
    ].join(''),
  );
};

const tall = { 'in-sync': 8, drifted: 12, suspended: 14, held: 16, failed: 20 };

const bar = (name: string, x: number, y: number, height: number): string =>
  height === 0
    ? ''
    : `<rect class="${name}" x="${x + 1}" y="${y.toFixed(1)}" width="${step - 2}" height="${height.toFixed(1)}"/>`;

/** Every sixth hour, so that it is readable on a phone. */
const hours = (day: readonly SummarySlot[], clock: PageClock): string[] => {
  const inSixHours = (6 * 3_600_000) / slotLength;
  const marks = day.filter((_, index) => index % inSixHours === 0).map(({ from }) => hourOf(from, clock));
  return [...marks, 'now'];
};

const inWords = (day: readonly SummarySlot[]): string => {
  const sum = (of: (slot: SummarySlot) => number): number => day.reduce((total, slot) => total + of(slot), 0);
  const passes = sum((slot) => slot.passes);
  if (passes === 0) return 'No pass has ended in the last 24 hours.';
  const max = Math.max(...day.map(({ left }) => left ?? 0));
  const bad = day.filter(({ worst }) => worst === 'failed' || worst === 'held').length;
  const written = sum((slot) => slot.written);
  const now = day.at(-1)?.leftAtEnd ?? 0;
  return [
    passes === 1 ? 'One pass' : `${passes} passes`,
    ...(written === 0 ? [] : [`${plural(written, 'difference')} written`]),
    max === 0
      ? 'no open differences'
      : `at most ${plural(max, 'open difference')} at a time, ${now === 0 ? 'none' : now} now`,
    ...(bad === 0
      ? []
      : [
          `a pass failed or was held in ${bad === 1 ? 'one 15-minute interval' : `${bad} 15-minute intervals`}`,
        ]),
  ]
    .join('; ')
    .concat('.');
};
