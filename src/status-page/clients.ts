import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { rest } from '../report/html.ts';
import { html, linked, Markup, type MarkupValue, stateIcon } from '../report/markup.ts';
import { states, wordOf } from '../report/row.ts';
import type { ClientFacts, Facts, PassEntry, SummarySlot } from './facts.ts';
import { at } from './frame.ts';
import { addressOf } from './query.ts';

/** Why passes of clients fail as a whole: the first reason, and how old the shown state is. */
export const outage = (clients: readonly ClientFacts[]): MarkupValue => {
  const failing = clients.filter(({ lastError }) => lastError !== null);
  const [first] = failing;
  if (first === undefined) return null;
  const why = escapeControl(first.lastError ?? '').replace(/[^.!?]$/, '$&.');
  const times = failing.flatMap(({ knownAt }) => knownAt ?? []);
  return html`<p class="causes">
    ${clients.length > 1 && html`<b>${escapeControl(first.client)}</b>: `}${why}
    ${failing.length > 1 && `${plural(failing.length - 1, 'client')} more cannot be compared: see below.`}
    ${times.length > 0 && `This shows the state of ${at(Math.min(...times))}.`}
  </p>`;
};

export const passText = ({ startedAt, trigger, durationMs }: PassEntry): string =>
  `${at(startedAt)}, ${reasons[trigger]}, took ${(durationMs / 1_000).toFixed(1)} s`;

const reasons = {
  startup: 'the program started',
  schedule: 'on schedule',
  'file-change': 'a file changed',
  request: 'on request',
  command: 'by a command',
};

export const clientSection = ({ clients }: Facts): Markup => {
  // Above, as the reason of all.
  const said = clients.find(({ lastError }) => lastError !== null)?.lastError;
  const max = 200;
  return html`<section aria-labelledby="clients">
    <h2 id="clients">Clients</h2>
    <ul class="list">
      ${clients.slice(0, max).map((one) => {
        const { client, health, why, lastPass, running } = one;
        const address = clients.length > 1 ? `./${addressOf({ client })}` : null;
        const last =
          lastPass === null
            ? 'No pass has ended yet'
            : `Last pass ${passText(lastPass)}: ${wordOf(lastPass.status)}`;
        return html`<li>
          ${linked(escapeControl(client), address)} ${stateIcon(health)}
          ${why !== null && why !== said && escapeControl(why)}
          <p class="aside">
            ${last}. ${running === null ? nextPass(one) : `Running now: ${reasons[running]}`}
          </p>
        </li>`;
      })}
    </ul>
    ${rest(clients.length - max, 'client', 'readyz')}
  </section>`;
};

const nextPass = ({ failures, backoffUntil, nextScheduled }: ClientFacts): MarkupValue => {
  if (backoffUntil === null) return nextScheduled === null ? 'No schedule' : `Next pass ${at(nextScheduled)}`;
  const why = failures === 0 ? 'another process is at work' : `${plural(failures, 'failure')} in a row`;
  return html`<b class="red">Backing off</b> until ${at(backoffUntil)}, ${why}`;
};

/** The processes that share the clients. */
export const processSection = ({ fleet }: Facts): MarkupValue =>
  fleet !== null &&
  html`<section aria-labelledby="processes">
    <h2 id="processes">Processes</h2>
    ${
      fleet.unowned.length > 0 &&
      html`<p>No process makes the passes of ${fleet.unowned.map(escapeControl).join(', ')}.</p>`
    }
    <ul class="list">
      ${fleet.processes.map(
        ({ place, clients, version, since }) =>
          html`<li>
            ${escapeControl(place)}: ${plural(clients, 'client')}
            <span class="aside">version ${escapeControl(version)}, started ${since}</span>
          </li>`,
      )}
    </ul>
  </section>`;

/** The passes of the last day, in words and as a chart. */
export const daySection = ({ day }: Facts): Markup =>
  html`<section aria-labelledby="passes">
    <h2 id="passes">Last 24 hours</h2>
    <figure>
      <figcaption>${inWords(day)}</figcaption>
      ${day.some(({ passes }) => passes > 0) && chart(day)}
    </figure>
  </section>`;

const inWords = (day: readonly SummarySlot[]): string => {
  const passes = day.reduce((sum, slot) => sum + slot.passes, 0);
  if (passes === 0) return 'No pass has ended in the last 24 hours.';
  const written = day.reduce((sum, slot) => sum + slot.written, 0);
  const most = Math.max(...day.map(({ left }) => left ?? 0));
  const bad = day.filter(({ worst }) => worst === 'failed' || worst === 'held').length;
  return [
    `${passes} passes; ${plural(written, 'difference')} written; `,
    `at most ${plural(most, 'open difference')} at a time, ${day.at(-1)?.leftAtEnd ?? 0} now; `,
    `passes failed or were held in ${plural(bad, 'interval')} of 15 minutes.`,
  ].join('');
};

/** For each quarter of an hour, as tall as it had open differences, in the colour of how its worst pass ended. */
const chart = (day: readonly SummarySlot[]): Markup => {
  const highest = Math.max(1, ...day.map(({ left }) => left ?? 0));
  const bars = day.map(({ left, worst }, x) => {
    const height = 4 + (96 * (left ?? 0)) / highest;
    const color = worst === null ? 'none' : states[worst][2];
    return `<rect class="${color}" x="${x}" y="${(100 - height).toFixed(1)}" width=".8" height="${height.toFixed(1)}"/>`;
  });
  const size = `viewBox="0 0 ${day.length} 100" preserveAspectRatio="none"`;
  return new Markup(`<svg class="chart" ${size} aria-hidden="true">${bars.join('')}</svg>
<p class="axis" aria-hidden="true"><span>24 hours ago</span><span>12 hours ago</span><span>now</span></p>`);
};
