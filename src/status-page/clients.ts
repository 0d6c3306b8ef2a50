import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { linked } from '../report/html-template.ts';
import { moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import type { ClientFacts, Facts, PassEntry } from './facts.ts';
import { rest, table } from './frame.ts';
import { addressOf } from './query.ts';

/** Why passes of clients fail as a whole: the first reason, and how old the shown state is. */
export const outage = (clients: readonly ClientFacts[], clock: PageClock): MarkupValue => {
  const failing = clients.filter(({ lastError }) => lastError !== null);
  const [first] = failing;
  if (first === undefined) return null;
  const why = escapeControl(first.lastError ?? '').replace(/[^.!?]$/, '$&.');
  const times = failing.flatMap(({ knownAt }) => knownAt ?? []);
  return html`<p class="causes">
    ${clients.length > 1 && html`<b>${escapeControl(first.client)}</b>: `}${prose(why, clock)}
    ${failing.length > 1 && `${plural(failing.length - 1, 'client')} more cannot be compared: see below.`}
    ${times.length > 0 && html`This shows the state of ${moment(Math.min(...times), clock)}.`}
  </p>`;
};

export const passText = ({ startedAt, trigger, durationMs }: PassEntry, clock: PageClock): Markup =>
  html`${moment(startedAt, clock)}, ${reasons[trigger]}, took ${duration(durationMs)}`;

const reasons = {
  startup: 'the program started',
  schedule: 'on schedule',
  'file-change': 'a file changed',
  request: 'on request',
  command: 'by a command',
};

/** Milliseconds in words. */
const duration = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;

export const clientSection = ({ clients, ...clock }: Facts): Markup => {
  // Above, as the reason of all.
  const said = clients.find(({ lastError }) => lastError !== null)?.lastError;
  return html`<section aria-labelledby="clients">
    <h2 id="clients">Clients</h2>
    ${table(
      'The state of each client, its last and its next pass',
      ['Client', 'State', 'Last pass', 'Next pass'],
      clients.slice(0, maxClients).map((one) => [
        linked(
          escapeControl(one.client),
          clients.length > 1 ? `./${addressOf({ client: one.client })}` : null,
        ),
        html`${stateIcon(one.health)}
        ${one.why !== null && one.why !== said && html`<p>${prose(escapeControl(one.why), clock)}</p>`}`,
        one.lastPass === null
          ? 'none yet'
          : html`<p>${passText(one.lastPass, clock)}</p>
              <p>${stateIcon(one.lastPass.status)}</p>`,
        nextPass(one, clock),
      ]),
    )}
    ${rest(clients.length - maxClients, 'client', 'readyz')}
  </section>`;
};

const maxClients = 200;

const nextPass = (client: ClientFacts, clock: PageClock): MarkupValue => {
  const { running, failures, backoffUntil, nextScheduled } = client;
  if (running !== null) return `running now: ${reasons[running]}`;
  const why = failures === 0 ? 'another process is at work' : `${plural(failures, 'failure')} in a row`;
  if (backoffUntil !== null)
    return html`<b class="failed">Backing off</b> until ${moment(backoffUntil, clock)}, ${why}`;
  return nextScheduled === null ? 'no schedule' : html`${moment(nextScheduled, clock)} on schedule`;
};

/** The processes that share the clients. */
export const processSection = ({ fleet, ...clock }: Facts): MarkupValue =>
  fleet !== null &&
  html`<section aria-labelledby="processes">
    <h2 id="processes">Processes</h2>
    ${
      fleet.unowned.length > 0 &&
      html`<p>No process makes the passes of ${fleet.unowned.map(escapeControl).join(', ')}.</p>`
    }
    ${table(
      'The processes that share the clients',
      ['Process', 'Clients', 'Version', 'Started'],
      fleet.processes.map(({ place, clients, version, since }) => [
        escapeControl(place),
        clients,
        escapeControl(version),
        moment(Date.parse(since), clock),
      ]),
    )}
  </section>`;
