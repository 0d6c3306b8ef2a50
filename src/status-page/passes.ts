import { escapeControl } from '../lib/escape-control.ts';
import { moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { PassEntry, SummarySlot } from './facts.ts';
import { plot } from './plot.ts';
import { duration, reasonOf } from './words.ts';

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
      passes.length === 0
        ? ''
        : html`<details id="last-passes">
            <summary>
              The last ${passes.length === 1 ? 'pass' : `${String(passes.length)} passes`}, one by one
            </summary>
            ${passTable(passes, clock)}
          </details>`
    }
  </section>`;

const passTable = (passes: readonly PassEntry[], clock: PageClock): Markup =>
  html`<table role="table">
    <caption class="unseen">
      The last passes, the newest first
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        <th role="columnheader" scope="col">Started</th>
        <th role="columnheader" scope="col">Client</th>
        <th role="columnheader" scope="col">Why</th>
        <th role="columnheader" scope="col">Took</th>
        <th role="columnheader" scope="col">Written</th>
        <th role="columnheader" scope="col">Left</th>
        <th role="columnheader" scope="col">Ended</th>
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${passes.map((pass) => passRow(pass, clock))}
    </tbody>
  </table>`;

const passRow = (pass: PassEntry, clock: PageClock): Markup =>
  html`<tr role="row">
    <th role="rowheader" scope="row">${moment(pass.startedAt, clock)}</th>
    <td role="cell" data-label="Client">${escapeControl(pass.client)}</td>
    <td role="cell" data-label="Why">${reasonOf(pass.trigger)}</td>
    <td role="cell" data-label="Took">${duration(pass.durationMs)}</td>
    <td role="cell" data-label="Written">${String(pass.written)}</td>
    <td role="cell" data-label="Left">${pass.left === null ? 'unknown' : String(pass.left)}</td>
    <td role="cell" data-label="Ended">
      ${stateIcon(pass.status)}
      ${pass.error === null ? '' : html`<p class="why">${prose(escapeControl(pass.error), clock)}</p>`}
    </td>
  </tr>`;
