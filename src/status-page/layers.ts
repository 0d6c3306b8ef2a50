import { escapeControl } from '../lib/escape-control.ts';
import { isFaulty, serverName } from '../report/answers-view.ts';
import { stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { ServerResult } from '../result.ts';
import type { LayerFacts } from './layer-facts.ts';
import { table, type TableRow } from './table.ts';
import { rest } from './words.ts';

export const layerSection = (layers: readonly LayerFacts[], more: number): Markup | string => {
  if (layers.length === 0) return '';
  return html`<section aria-labelledby="layers">
    <h2 id="layers">From file to name servers</h2>
    ${table(
      'Each subdomain in four layers: file, template, service, name servers',
      ['Subdomain', 'File to template', 'Template to service', 'Service to name servers'],
      layers.map(layerRow),
    )}
    ${rest(more, 'subdomain', '/api/report')}
  </section>`;
};

const layerRow = ({
  subdomain,
  template,
  ofTemplate,
  ofService,
  answers,
  age,
  servers,
}: LayerFacts): TableRow => ({
  key: escapeControl(`${template} ${subdomain}`),
  cells: [
    escapeControl(subdomain),
    html`${stateIcon(ofTemplate)}
      <p class="aside">${escapeControl(template)}</p>`,
    stateIcon(ofService),
    html`${stateIcon(answers)} ${age.map((one) => html`<p class="aside">${escapeControl(one)}</p>`)}
    ${servers.map(serverLine)}`,
  ],
});

const serverLine = (server: ServerResult): Markup =>
  html`<p class="aside">
    ${escapeControl(serverName(server))}${server.serial === null ? '' : ` serial ${server.serial}`}${
      isFaulty(server) ? ` ${server.status}` : ''
    }
  </p>`;
