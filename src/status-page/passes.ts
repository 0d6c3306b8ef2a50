import { escapeControl } from '../lib/escape-control.ts';
import { moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { PassEntry, SummarySlot } from './facts.ts';
import { plot } from './plot.ts';
import { table, type TableRow } from './table.ts';
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
  table(
    'The last passes, the newest first',
    ['Started', 'Client', 'Why', 'Took', 'Written', 'Left', 'Ended'],
    passes.map((pass) => passRow(pass, clock)),
  );

const passRow = (pass: PassEntry, clock: PageClock): TableRow => ({
  cells: [
    moment(pass.startedAt, clock),
    escapeControl(pass.client),
    reasonOf(pass.trigger),
    duration(pass.durationMs),
    String(pass.written),
    pass.left === null ? 'unknown' : String(pass.left),
    html`${stateIcon(pass.status)}
    ${pass.error === null ? '' : html`<p class="why">${prose(escapeControl(pass.error), clock)}</p>`}`,
  ],
});
