import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { linked } from '../report/html-parts.ts';
import { moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { ClientSummary } from './facts.ts';
import { addressOf, everything } from './query.ts';
import { table, type TableRow } from './table.ts';
import { duration, reasonOf, rest } from './words.ts';

/** The state of each client. */
export const clientSection = (clients: readonly ClientSummary[], clock: PageClock): Markup =>
  html`<section aria-labelledby="clients">
    <h2 id="clients">Clients</h2>
    ${table(
      'The state of each client, its last and its next pass',
      ['Client', 'State', 'Last pass', 'Next pass'],
      clients.slice(0, maxClients).map((client) => clientRow(client, clients.length > 1, clock)),
    )}
    ${rest(clients.length - maxClients, 'client', '/readyz')}
  </section>`;

const maxClients = 200;

const clientRow = (client: ClientSummary, isOneOfMany: boolean, clock: PageClock): TableRow => {
  const name = escapeControl(client.client);
  return {
    key: name,
    cells: [
      linked(name, isOneOfMany ? addressOf({ ...everything, client: client.client }) : null),
      html`${stateIcon(client.health)} ${whyOf(client, clock)}`,
      lastPass(client, clock),
      nextPass(client, clock),
    ],
  };
};

/** The state above shows why its passes fail as a whole. */
const whyOf = ({ why, trouble }: ClientSummary, clock: PageClock): Markup | string =>
  why === null || trouble !== null ? '' : html`<p class="why">${prose(escapeControl(why), clock)}</p>`;

const lastPass = ({ lastPass: last, why, trouble }: ClientSummary, clock: PageClock): Markup =>
  last === null
    ? html`none yet`
    : html`${moment(last.startedAt, clock)}
        <p class="aside">
          ${reasonOf(last.trigger)}, took ${duration(last.durationMs)}, ended ${stateIcon(last.status)}
        </p>
        ${last.error === null || last.error === why || last.error === trouble?.why ? '' : html`<p>${escapeControl(last.error)}</p>`}`;

const nextPass = (client: ClientSummary, clock: PageClock): Markup => {
  const { running, waiting, failures, backoffUntil, nextScheduled } = client;
  return html`${running === null ? '' : html`<p>Running now: ${reasonOf(running)}</p>`}
  ${
    backoffUntil === null
      ? ''
      : html`<p><b class="failed">Backing off</b> until ${moment(backoffUntil, clock)}</p>
          <p class="aside">
            ${failures === 0 ? 'another process is at work' : `${plural(failures, 'failure')} in a row`}
          </p>`
  }
  ${waiting === null || backoffUntil !== null ? '' : html`<p>Waiting: ${reasonOf(waiting)}</p>`}
  ${
    nextScheduled === null
      ? html`<p class="aside">no schedule</p>`
      : html`<p class="${backoffUntil === null ? '' : 'aside'}">
          ${moment(nextScheduled, clock)} on schedule
        </p>`
  }`;
};
