import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { linked } from '../report/html-parts.ts';
import { moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { ClientSummary, FleetSummary } from './facts.ts';
import { duration, reasonOf, rest, table } from './parts.ts';
import { addressOf } from './query.ts';

/** The state of each client. */
export const clientSection = (clients: readonly ClientSummary[], clock: PageClock): Markup =>
  html`<section aria-labelledby="clients">
    <h2 id="clients">Clients</h2>
    ${table(
      'The state of each client, its last and its next pass',
      ['Client', 'State', 'Last pass', 'Next pass'],
      clients.slice(0, maxClients).map((one) => {
        const href = clients.length > 1 ? `./${addressOf({ client: one.client })}` : null;
        return [
          linked(escapeControl(one.client), href),
          state(one, clock),
          last(one, clock),
          next(one, clock),
        ];
      }),
    )}
    ${rest(clients.length - maxClients, 'client', 'readyz')}
  </section>`;

const maxClients = 200;

/** The state above shows why its passes fail as a whole. */
const state = ({ health, why, trouble }: ClientSummary, clock: PageClock): Markup =>
  html`${stateIcon(health)}
  ${why === null || trouble !== null ? '' : html`<p class="why">${prose(escapeControl(why), clock)}</p>`}`;

const last = ({ lastPass: pass, why, trouble }: ClientSummary, clock: PageClock): Markup =>
  pass === null
    ? html`none yet`
    : html`${moment(pass.startedAt, clock)}
        <p class="aside">
          ${reasonOf(pass.trigger)}, took ${duration(pass.durationMs)}, ended ${stateIcon(pass.status)}
        </p>
        ${pass.error === null || pass.error === why || pass.error === trouble?.why ? '' : html`<p>${escapeControl(pass.error)}</p>`}`;

const next = (client: ClientSummary, clock: PageClock): Markup => {
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
    <p class="${backoffUntil === null && nextScheduled !== null ? '' : 'aside'}">
      ${nextScheduled === null ? 'no schedule' : html`${moment(nextScheduled, clock)} on schedule`}
    </p>`;
};

/** The processes that share the clients. */
export const processSection = (fleet: FleetSummary | null, clock: PageClock): Markup | string =>
  fleet === null
    ? ''
    : html`<section aria-labelledby="processes">
        <h2 id="processes">Processes</h2>
        <p class="aside">
          ${
            fleet.unowned.length === 0
              ? 'Each client has a process that makes its passes.'
              : `No process makes the passes of ${fleet.unowned.map(escapeControl).join(', ')}.`
          }
        </p>
        ${table(
          'The processes that share the clients',
          ['Process', 'Clients', 'Version', 'Started'],
          fleet.processes.map(({ place, clients, version, since }) => [
            escapeControl(place),
            String(clients),
            escapeControl(version),
            moment(Date.parse(since), clock),
          ]),
        )}
      </section>`;
