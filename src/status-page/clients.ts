import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { html, type Markup } from '../report/markup.ts';
import type { ClientFacts } from './facts.ts';
import { duration, moment, reasonOf, rest, sign } from './words.ts';

/** How each client is. */
export const clientSection = (clients: readonly ClientFacts[], now: number): Markup =>
  html`<section aria-labelledby="clients">
    <h2 id="clients">Clients</h2>
    <table role="table">
      <caption class="unseen">
        The state of each client, its last and its next pass
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Client</th>
          <th role="columnheader" scope="col">State</th>
          <th role="columnheader" scope="col">Last pass</th>
          <th role="columnheader" scope="col">Next pass</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${clients.slice(0, mostClients).map((client) => clientRow(client, now))}
      </tbody>
    </table>
    ${rest(clients.length - mostClients, 'client', '/readyz')}
  </section>`;

const mostClients = 200;

const clientRow = (client: ClientFacts, now: number): Markup =>
  html`<tr role="row" data-key="${escapeControl(client.client)}">
    <th role="rowheader" scope="row">${escapeControl(client.client)}</th>
    <td role="cell" data-label="State">
      ${sign(client.health)}
      ${client.why === null ? '' : html`<p class="why">${escapeControl(client.why)}</p>`}
    </td>
    <td role="cell" data-label="Last pass">${lastPass(client, now)}</td>
    <td role="cell" data-label="Next pass">${nextPass(client, now)}</td>
  </tr>`;

const lastPass = ({ lastPass: last, why }: ClientFacts, now: number): Markup =>
  last === null
    ? html`none yet`
    : html`${moment(last.startedAt, now)}
        <p class="aside">
          ${reasonOf(last.trigger)}, took ${duration(last.durationMs)}, ended ${sign(last.status)}
        </p>
        ${last.error === null || last.error === why ? '' : html`<p>${escapeControl(last.error)}</p>`}`;

const nextPass = (client: ClientFacts, now: number): Markup => {
  const { running, waiting, failures, pausedUntil, nextScheduled } = client;
  return html`${running === null ? '' : html`<p>Running now: ${reasonOf(running)}</p>`}
  ${
    pausedUntil === null
      ? ''
      : html`<p><b class="failed">Backing off</b> until ${moment(pausedUntil, now)}</p>
          <p class="aside">
            ${failures === 0 ? 'another process is at work' : `${plural(failures, 'failure')} in a row`}
          </p>`
  }
  ${waiting === null || pausedUntil !== null ? '' : html`<p>Waiting: ${reasonOf(waiting)}</p>`}
  ${
    nextScheduled === null
      ? html`<p class="aside">no schedule</p>`
      : html`<p class="${pausedUntil === null ? '' : 'aside'}">${moment(nextScheduled, now)} on schedule</p>`
  }`;
};
