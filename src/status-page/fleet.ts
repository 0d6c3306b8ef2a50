import { escapeControl } from '../lib/escape-control.ts';
import { moment, type PageClock } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { FleetProcess, FleetSummary } from './facts.ts';
import { table, type TableRow } from './table.ts';

/** The processes that share the clients. */
export const fleetSection = (fleet: FleetSummary | null, clock: PageClock): Markup | string =>
  fleet === null
    ? ''
    : html`<section aria-labelledby="processes">
        <h2 id="processes">Processes</h2>
        <p class="aside">${unowned(fleet)}</p>
        ${table(
          'The processes that share the clients',
          ['Process', 'Clients', 'Version', 'Started'],
          fleet.processes.map((one) => row(one, clock)),
        )}
      </section>`;

const row = ({ place, clients, version, since }: FleetProcess, clock: PageClock): TableRow => ({
  key: escapeControl(place),
  cells: [escapeControl(place), String(clients), escapeControl(version), moment(Date.parse(since), clock)],
});

const unowned = ({ unowned: clients }: FleetSummary): string =>
  clients.length === 0
    ? 'Each client has a process that makes its passes.'
    : `No process makes the passes of ${clients.map(escapeControl).join(', ')}.`;
