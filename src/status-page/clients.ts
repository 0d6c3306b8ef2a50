import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { linked } from '../report/html-template.ts';
import { moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { ClientSummary, FleetSummary, PassEntry } from './facts.ts';
import { duration, reasonOf, rest, table } from './parts.ts';
import { addressOf } from './query.ts';

/** The last and the next pass of all clients together, in a line. */
export const passesLine = (clients: readonly ClientSummary[], clock: PageClock): Markup => {
  const [last] = clients
    .flatMap((client) => client.lastPass ?? [])
    .sort((one, other) => other.startedAt - one.startedAt);
  const [running] = clients.flatMap((client) => client.running ?? []);
  const [next] = clients.flatMap(comingPass).sort((one, other) => one.at - other.at);
  const coming =
    next === undefined ? 'No next pass is planned' : html`Next pass ${moment(next.at, clock)}, ${next.why}`;
  return html`${last === undefined ? 'No pass has ended yet' : html`Last pass ${passText(last, clock)}`}.
  ${running === undefined ? coming : `A pass is running, ${reasonOf(running)}`}.`;
};

/** While a client backs off, its schedule has no effect. */
const comingPass = ({ backoffUntil, nextScheduled }: ClientSummary): { at: number; why: string }[] => {
  if (backoffUntil !== null) return [{ at: backoffUntil, why: 'after one that failed' }];
  return nextScheduled === null ? [] : [{ at: nextScheduled, why: 'on schedule' }];
};

const passText = ({ startedAt, trigger, durationMs }: PassEntry, clock: PageClock): Markup =>
  html`${moment(startedAt, clock)}, ${reasonOf(trigger)}, took ${duration(durationMs)}`;

/** The state of each client. */
export const clientSection = (clients: readonly ClientSummary[], clock: PageClock): Markup =>
  html`<section aria-labelledby="clients">
    <h2 id="clients">Clients</h2>
    ${table(
      'The state of each client, its last and its next pass',
      ['Client', 'State', 'Last pass', 'Next pass'],
      clients.slice(0, maxClients).map((one) => {
        const { client, health, why, trouble, lastPass } = one;
        const href = clients.length > 1 ? `./${addressOf({ client })}` : null;
        // The state above shows why its passes fail as a whole.
        const reason = why === null || trouble !== null ? '' : prose(escapeControl(why), clock);
        const isSaid = [null, why, trouble?.why].includes(lastPass?.error ?? null);
        return [
          linked(escapeControl(client), href),
          html`${stateIcon(health)}
            <p class="why">${reason}</p>`,
          lastPass === null
            ? 'none yet'
            : html`<p>${passText(lastPass, clock)}</p>
                <p class="aside">ended ${stateIcon(lastPass.status)}</p>
                ${isSaid ? '' : html`<p>${escapeControl(lastPass.error ?? '')}</p>`}`,
          nextPass(one, clock),
        ];
      }),
    )}
    ${rest(clients.length - maxClients, 'client', 'readyz')}
  </section>`;

const maxClients = 200;

const nextPass = (client: ClientSummary, clock: PageClock): Markup => {
  const { running, waiting, failures, backoffUntil, nextScheduled } = client;
  const why = failures === 0 ? 'another process is at work' : `${plural(failures, 'failure')} in a row`;
  return html`${running === null ? '' : html`<p>Running now: ${reasonOf(running)}</p>`}
    ${
      backoffUntil === null
        ? ''
        : html`<p><b class="failed">Backing off</b> until ${moment(backoffUntil, clock)}</p>
            <p class="aside">${why}</p>`
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
