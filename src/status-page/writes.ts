import { escapeControl } from '../lib/escape-control.ts';
import { iconOfRow, sidesInLine } from '../report/html-row.ts';
import { moment, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import { rowOfWrite } from '../report/row.ts';
import type { Writes } from './facts.ts';
import { type Frame, htmlPage, table } from './frame.ts';

/** The last writes of all templates. */
export const renderWrites = (frame: Frame, writes: Writes): string =>
  htmlPage({
    frame,
    root: frame.root,
    title: 'Writes',
    main: html`<p class="way"><a href="${frame.root}">← all templates</a></p>
      ${writeSection(writes, frame, 'api/history')}`,
  });

/** The writes, before and after. `history`: where all of them are. */
export const writeSection = (writes: Writes, frame: Frame, history: string): Markup => {
  const section = (content: Markup): Markup =>
    html`<section aria-labelledby="writes">
      <h2 id="writes">Writes</h2>
      ${content}
    </section>`;
  if (typeof writes === 'string')
    return section(html`<p class="failed">The history cannot be read: ${escapeControl(writes)}</p>`);
  if (writes.length === 0) return section(html`<p>Nothing has been written yet.</p>`);
  const rows = writes.map((write) => {
    const { at, client, template, recordId, outcome, error } = write;
    const row = rowOfWrite(write);
    return [
      moment(Date.parse(at), frame),
      escapeControl(frame.clients.length > 1 ? `${client}: ${template}` : template),
      html`<span class="${row.kind}">${iconOfRow(row)}</span>`,
      html`<span><code>${row.type}</code> <code class="name">${row.name}</code></span> ${sidesInLine(row)}
        ${recordId !== null && html`<span class="aside">record ${recordId}</span>`}`,
      html`${stateIcon(outcome)} ${error !== null && html`<p>${prose(escapeControl(error), frame)}</p>`}`,
    ];
  });
  return section(
    html`${table(
        'The last writes to the service, the newest first',
        ['When', 'Template', 'Write', 'Record', 'Outcome'],
        rows,
      )}
      <p class="rest">The newest 1,000 are in <a href="${frame.root}${history}">/${history}</a>.</p>`,
  );
};
