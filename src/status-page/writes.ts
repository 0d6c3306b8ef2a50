import { escapeControl } from '../lib/escape-control.ts';
import { sidesInLine, iconOfRow, templateSides } from '../report/html-row.ts';
import { moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import { rowOfWrite } from '../report/row.ts';
import type { PageFacts, WriteEntry } from './facts.ts';
import { table, type TableRow } from './table.ts';

/** The last writes, before and after. */
export const writeSection = (
  writes: PageFacts['writes'],
  clock: PageClock,
  { withClient, history = '/api/history' }: { readonly withClient: boolean; readonly history?: string },
): Markup =>
  html`<section aria-labelledby="writes">
    <h2 id="writes">Writes</h2>
    ${
      typeof writes === 'string'
        ? html`<p class="failed">The history cannot be read: ${escapeControl(writes)}</p>`
        : writeTable(writes, clock, withClient)
    }
    ${
      writes.length === 0
        ? ''
        : html`<p class="rest">All of them are in <a href="${history}">${history}</a>.</p>`
    }
  </section>`;

const writeTable = (writes: readonly WriteEntry[], clock: PageClock, withClient: boolean): Markup =>
  writes.length === 0
    ? html`<p>Nothing has been written yet.</p>`
    : table(
        'The last writes to the service, the newest first',
        ['When', 'Template', 'Write', 'Record', 'Outcome'],
        writes.map((write) => writeRow(write, clock, withClient)),
      );

const writeRow = (write: WriteEntry, clock: PageClock, withClient: boolean): TableRow => {
  const row = rowOfWrite(write);
  return {
    cells: [
      moment(Date.parse(write.at), clock),
      html`${escapeControl(write.template)}
      ${withClient ? html`<span class="aside">${escapeControl(write.client)}</span>` : ''}`,
      html`<span class="${row.kind}">${iconOfRow(row)}</span>`,
      html`<span><code>${row.type}</code> <code class="name">${row.name}</code></span>
        ${sidesInLine(row, templateSides)}
        ${write.recordId === null ? '' : html`<span class="aside">record ${String(write.recordId)}</span>`}`,
      html`${stateIcon(write.outcome)}
      ${write.error === null ? '' : html`<p class="why">${prose(escapeControl(write.error), clock)}</p>`}`,
    ],
  };
};
