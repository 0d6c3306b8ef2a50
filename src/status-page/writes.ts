import { escapeControl } from '../lib/escape-control.ts';
import { sidesInLine, iconOfRow, templateSides } from '../report/html-row.ts';
import { moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import { rowOfWrite } from '../report/row.ts';
import type { PageFacts, WriteEntry } from './facts.ts';

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
    : html`<table role="table">
        <caption class="unseen">
          The last writes to the service, the newest first
        </caption>
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">When</th>
            <th role="columnheader" scope="col">Template</th>
            <th role="columnheader" scope="col">Write</th>
            <th role="columnheader" scope="col">Record</th>
            <th role="columnheader" scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          ${writes.map((write) => writeRow(write, clock, withClient))}
        </tbody>
      </table>`;

const writeRow = (write: WriteEntry, clock: PageClock, withClient: boolean): Markup => {
  const row = rowOfWrite(write);
  return html`<tr role="row">
    <th role="rowheader" scope="row">${moment(Date.parse(write.at), clock)}</th>
    <td role="cell" data-label="Template">
      ${escapeControl(write.template)}
      ${withClient ? html`<span class="aside">${escapeControl(write.client)}</span>` : ''}
    </td>
    <td role="cell" data-label="Write">
      <span class="${row.kind}">${iconOfRow(row)}</span>
    </td>
    <td role="cell" data-label="Record">
      <span><code>${row.type}</code> <code class="name">${row.name}</code></span>
      ${sidesInLine(row, templateSides)}
      ${write.recordId === null ? '' : html`<span class="aside">record ${String(write.recordId)}</span>`}
    </td>
    <td role="cell" data-label="Outcome">
      ${stateIcon(write.outcome)}
      ${write.error === null ? '' : html`<p class="why">${prose(escapeControl(write.error), clock)}</p>`}
    </td>
  </tr>`;
};
