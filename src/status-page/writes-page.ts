import { escapeControl } from '../lib/escape-control.ts';
import { sidesInLine, iconOfRow, templateSides } from '../report/html-row.ts';
import { moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import { rowOfWrite } from '../report/row.ts';
import type { PageFrame, WriteEntry, Writes } from './facts.ts';
import { framed } from './frame.ts';
import { table } from './parts.ts';

/** The last writes of all templates. */
export const renderWrites = (
  facts: PageFrame & { readonly writes: Writes; readonly hasSeveralClients: boolean },
): string =>
  framed({
    frame: facts,
    state: 'pending',
    title: 'Writes',
    main: html`<p class="way"><a href="${facts.root}">← all templates</a></p>
      ${writeSection(facts.writes, facts, { withClient: facts.hasSeveralClients, history: 'api/history' })}`,
  });

/** The writes, before and after. `history`: where all of them are. */
export const writeSection = (
  writes: Writes,
  clock: PageClock & Pick<PageFrame, 'root'>,
  { withClient, history }: { readonly withClient: boolean; readonly history: string },
): Markup =>
  html`<section aria-labelledby="writes">
    <h2 id="writes">Writes</h2>
    ${
      typeof writes === 'string'
        ? html`<p class="failed">The history cannot be read: ${escapeControl(writes)}</p>`
        : writes.length === 0
          ? html`<p>Nothing has been written yet.</p>`
          : table(
              'The last writes to the service, the newest first',
              ['When', 'Template', 'Write', 'Record', 'Outcome'],
              writes.map((write) => writeRow(write, clock, withClient)),
            )
    }
    ${
      typeof writes !== 'string' &&
      writes.length > 0 &&
      html`<p class="rest">The newest 1,000 are in <a href="${clock.root}${history}">/${history}</a>.</p>`
    }
  </section>`;

const writeRow = (write: WriteEntry, clock: PageClock, withClient: boolean): MarkupValue[] => {
  const row = rowOfWrite(write);
  return [
    moment(Date.parse(write.at), clock),
    html`${escapeControl(write.template)}
    ${withClient && html`<span class="aside">${escapeControl(write.client)}</span>`}`,
    html`<span class="${row.kind}">${iconOfRow(row)}</span>`,
    html`<span><code>${row.type}</code> <code class="name">${row.name}</code></span>
      ${sidesInLine(row, templateSides)}
      ${write.recordId !== null && html`<span class="aside">record ${write.recordId}</span>`}`,
    html`${stateIcon(write.outcome)}
    ${write.error !== null && html`<p class="why">${prose(escapeControl(write.error), clock)}</p>`}`,
  ];
};
