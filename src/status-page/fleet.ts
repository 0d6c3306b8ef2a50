import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { moment, type PageClock } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { FleetSummary } from './facts.ts';
import { duration } from './words.ts';

/** The processes that share the passes, and what waits for them. */
export const fleetSection = (fleet: FleetSummary | null, clock: PageClock): Markup | string =>
  fleet === null
    ? ''
    : html`<section aria-labelledby="processes">
        <h2 id="processes">Processes</h2>
        <p class="aside">${waiting(fleet).join(' ')}</p>
        <table role="table">
          <caption class="unseen">
            The processes that share the passes
          </caption>
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col">Process</th>
              <th role="columnheader" scope="col">Role</th>
              <th role="columnheader" scope="col">Version</th>
              <th role="columnheader" scope="col">Started</th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            ${fleet.processes.map((one) => row(one, clock))}
          </tbody>
        </table>
      </section>`;

const row = ({ place, role, version, since }: FleetSummary['processes'][number], clock: PageClock): Markup =>
  html`<tr role="row" data-key="${escapeControl(place)}">
    <th role="rowheader" scope="row">${escapeControl(place)}</th>
    <td role="cell" data-label="Role">${role}</td>
    <td role="cell" data-label="Version">${escapeControl(version)}</td>
    <td role="cell" data-label="Started">${moment(Date.parse(since), clock)}</td>
  </tr>`;

const waiting = ({ due, oldestDue, failing, unpassed, pausedServers }: FleetSummary): readonly string[] => [
  due === 0 ? 'No pass is late.' : `Late passes: ${due}, the oldest by ${duration(oldestDue * 1_000)}.`,
  ...(failing === 0 ? [] : [`Passes of ${plural(failing, 'client')} fail.`]),
  ...(unpassed === 0 ? [] : [`${plural(unpassed, 'publication')} of template files without a pass since.`]),
  ...(pausedServers.length === 0 ? [] : [`Asked to wait: ${pausedServers.map(escapeControl).join(', ')}.`]),
];
