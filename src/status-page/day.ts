import { plural } from '../lib/plural.ts';
import { hourOf, icons } from '../report/html-words.ts';
import { html, Markup } from '../report/markup.ts';
import { type Facts, slotLength, type SummarySlot } from './facts.ts';

/** The passes of the last day, in words and as a chart. */
export const daySection = ({ day, ...clock }: Facts): Markup =>
  html`<section aria-labelledby="passes">
    <h2 id="passes">Last 24 hours</h2>
    <figure>
      <figcaption>${inWords(day)}</figcaption>
      ${day.some((slot) => slot.passes > 0) && chart(day)}
      <p class="axis" aria-hidden="true">
        ${day
          .filter((_, index) => index % slotsBetweenMarks === 0)
          .map(({ from }) => html`<span>${hourOf(from, clock)}</span>`)}
        <span>now</span>
      </p>
    </figure>
  </section>`;

/** Six hours, so that the axis is readable on a phone. */
const slotsBetweenMarks = (6 * 3_600_000) / slotLength;

const inWords = (day: readonly SummarySlot[]): string => {
  const sum = (of: (slot: SummarySlot) => number): number => day.reduce((total, slot) => total + of(slot), 0);
  const passes = sum((slot) => slot.passes);
  if (passes === 0) return 'No pass has ended in the last 24 hours.';
  const written = sum((slot) => slot.written);
  const most = Math.max(...day.map(({ left }) => left ?? 0));
  const bad = sum(({ worst }) => (worst === 'failed' || worst === 'held' ? 1 : 0));
  const words = [
    passes === 1 ? 'One pass' : `${passes} passes`,
    written > 0 && `${plural(written, 'difference')} written`,
    most === 0
      ? 'no open differences'
      : `at most ${plural(most, 'open difference')} at a time, ${day.at(-1)?.leftAtEnd || 'none'} now`,
    bad > 0 && `passes failed or were held in ${plural(bad, 'interval')} of 15 minutes`,
  ];
  return `${words.filter((part) => part !== false).join('; ')}.`;
};

/** For each quarter of an hour, as tall as it had open differences, in the colour of how its worst pass ended. */
const chart = (day: readonly SummarySlot[]): Markup => {
  const highest = Math.max(1, ...day.map(({ left }) => left ?? 0));
  const bars = day.map(({ left, worst }, at) => {
    const height = 4 + (96 * (left ?? 0)) / highest;
    return `<rect class="${icons[worst ?? '']?.[2] ?? worst ?? 'none'}" x="${at}" y="${(100 - height).toFixed(1)}" width=".8" height="${height.toFixed(1)}"/>`;
  });
  const size = `viewBox="0 0 ${day.length} 100" preserveAspectRatio="none"`;
  return new Markup(`<svg class="chart" ${size} aria-hidden="true">${bars.join('')}</svg>`);
};
