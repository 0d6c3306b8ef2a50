import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { linked } from '../report/html-template.ts';
import { moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import { groupAlike } from '../report/worst-first.ts';
import type { ClientSummary, FleetSummary, PassEntry } from './facts.ts';
import { duration, reasonOf, rest, table } from './parts.ts';
import { addressOf } from './query.ts';

/** Why passes fail as a whole: each cause once, with all its clients. */
export const causes = (clients: readonly ClientSummary[], clock: PageClock): MarkupValue => {
  const troubled = clients.flatMap(({ client, trouble }) => (trouble === null ? [] : { client, ...trouble }));
  const items = groupAlike(troubled, ({ why }) => why).map((group) => {
    const why = escapeControl(group[0]?.why ?? '');
    const names = group.slice(0, 5).map(({ client }) => escapeControl(client));
    const more = group.length - names.length;
    const times = group.flatMap(({ knownAt }) => knownAt ?? []);
    const unknown = group.reduce((sum, one) => sum + one.unknown, 0);
    return html`<li>
      ${clients.length > 1 && html`<b>${names.join(', ')}${more > 0 && ` and ${more} more`}</b>: `}
      ${prose(/[.!?]$/.test(why) ? why : `${why}.`, clock)}
      ${times.length > 0 && html`This shows the state of ${moment(Math.min(...times), clock)}.`}
      ${unknown > 0 && `Nothing is known yet of ${plural(unknown, 'template')}.`}
    </li>`;
  });
  return (
    items.length > 0 &&
    html`<ul class="causes">
      ${items}
    </ul>`
  );
};

/** The last and the next pass of all clients together, in a line. */
export const passesLine = (clients: readonly ClientSummary[], clock: PageClock): Markup => {
  const [last] = clients
    .flatMap(({ lastPass }) => lastPass ?? [])
    .sort((one, other) => other.startedAt - one.startedAt);
  const [running] = clients.flatMap((client) => client.running ?? []);
  // While a client backs off, its schedule has no effect.
  const [next] = clients
    .flatMap(({ backoffUntil, nextScheduled }) => {
      if (backoffUntil !== null) return { at: backoffUntil, why: 'after one that failed' };
      return nextScheduled === null ? [] : { at: nextScheduled, why: 'on schedule' };
    })
    .sort((one, other) => one.at - other.at);
  const coming =
    next === undefined ? 'No next pass is planned' : html`Next pass ${moment(next.at, clock)}, ${next.why}`;
  return html`${last === undefined ? 'No pass has ended yet' : html`Last pass ${passText(last, clock)}`}.
  ${running === undefined ? coming : `A pass is running, ${reasonOf(running)}`}.`;
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
        const isSaid = [null, why, trouble?.why].includes(lastPass?.error ?? null);
        return [
          linked(escapeControl(client), clients.length > 1 ? `./${addressOf({ client })}` : null),
          // The state above shows why its passes fail as a whole.
          html`${stateIcon(health)}
            <p class="why">${why !== null && trouble === null && prose(escapeControl(why), clock)}</p>`,
          lastPass === null
            ? 'none yet'
            : html`<p>${passText(lastPass, clock)}</p>
                <p class="aside">ended ${stateIcon(lastPass.status)}</p>
                ${!isSaid && html`<p>${escapeControl(lastPass.error ?? '')}</p>`}`,
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
  return html`${running !== null && html`<p>Running now: ${reasonOf(running)}</p>`}
    ${
      backoffUntil !== null &&
      html`<p><b class="failed">Backing off</b> until ${moment(backoffUntil, clock)}</p>
        <p class="aside">${why}</p>`
    }
    ${waiting !== null && backoffUntil === null && html`<p>Waiting: ${reasonOf(waiting)}</p>`}
    <p class="${(backoffUntil !== null || nextScheduled === null) && 'aside'}">
      ${nextScheduled === null ? 'no schedule' : html`${moment(nextScheduled, clock)} on schedule`}
    </p>`;
};

/** The processes that share the clients. */
export const processSection = (fleet: FleetSummary | null, clock: PageClock): MarkupValue =>
  fleet !== null &&
  html`<section aria-labelledby="processes">
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
        clients,
        escapeControl(version),
        moment(Date.parse(since), clock),
      ]),
    )}
  </section>`;
