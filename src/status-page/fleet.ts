import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { moment, type PageClock } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { FleetSummary } from './facts.ts';
import { table, type TableRow } from './table.ts';
import { duration } from './words.ts';

/** The processes that share the passes, and what waits for them. */
export const fleetSection = (fleet: FleetSummary | null, clock: PageClock): Markup | string =>
  fleet === null
    ? ''
    : html`<section aria-labelledby="processes">
        <h2 id="processes">Processes</h2>
        <p class="aside">${waiting(fleet).join(' ')}</p>
        ${table(
          'The processes that share the passes',
          ['Process', 'Role', 'Version', 'Started'],
          fleet.processes.map((one) => row(one, clock)),
        )}
      </section>`;

const row = (
  { place, role, version, since }: FleetSummary['processes'][number],
  clock: PageClock,
): TableRow => ({
  key: escapeControl(place),
  cells: [escapeControl(place), role, escapeControl(version), moment(Date.parse(since), clock)],
});

const waiting = ({ due, oldestDue, failing, unpassed, pausedServers }: FleetSummary): readonly string[] => [
  due === 0 ? 'No pass is late.' : `Late passes: ${due}, the oldest by ${duration(oldestDue * 1_000)}.`,
  ...(failing === 0 ? [] : [`Passes of ${plural(failing, 'client')} fail.`]),
  ...(unpassed === 0 ? [] : [`${plural(unpassed, 'publication')} of template files without a pass since.`]),
  ...(pausedServers.length === 0 ? [] : [`Asked to wait: ${pausedServers.map(escapeControl).join(', ')}.`]),
];
