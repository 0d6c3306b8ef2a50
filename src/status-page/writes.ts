import { escapeControl } from '../lib/escape-control.ts';
import { recordParts } from '../report/html-parts.ts';
import { html, type Markup } from '../report/markup.ts';
import { rowOfWrite } from '../report/row.ts';
import type { PageFacts, WriteEntry } from './facts.ts';
import { moment, sign } from './words.ts';

/** What was written last, before and after. */
export const writeSection = (writes: PageFacts['writes'], now: number): Markup =>
  html`<section aria-labelledby="writes">
    <h2 id="writes">Writes</h2>
    ${
      typeof writes === 'string'
        ? html`<p class="failed">The history cannot be read: ${escapeControl(writes)}</p>`
        : writeTable(writes, now)
    }
    ${
      writes.length === 0
        ? ''
        : html`<p class="rest">All of them are in <a href="/api/history">/api/history</a>.</p>`
    }
  </section>`;

const writeTable = (writes: readonly WriteEntry[], now: number): Markup =>
  writes.length === 0
    ? html`<p>Nothing was written yet.</p>`
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
          ${writes.map((write) => writeRow(write, now))}
        </tbody>
      </table>`;

const writeRow = (write: WriteEntry, now: number): Markup => {
  const row = rowOfWrite(write);
  return html`<tr role="row">
    <th role="rowheader" scope="row">${moment(Date.parse(write.at), now)}</th>
    <td role="cell" data-label="Template">
      ${escapeControl(write.template)}
      <span class="aside">${escapeControl(write.client)}</span>
    </td>
    <td role="cell" data-label="Write">
      <span class="${row.kind}"
        ><span class="sign"><span aria-hidden="true">${row.symbol}</span> ${row.word}</span></span
      >
      ${write.recordId === null ? '' : html`<span class="aside">record ${String(write.recordId)}</span>`}
    </td>
    <td role="cell" data-label="Record">
      <span><code>${row.type}</code> <code class="name">${row.name}</code></span> ${recordParts(row)}
    </td>
    <td role="cell" data-label="Outcome">
      ${sign(write.outcome)}
      ${write.error === null ? '' : html`<p class="why">${escapeControl(write.error)}</p>`}
    </td>
  </tr>`;
};
