import { escapeControl } from '../lib/escape-control.ts';
import { isFaulty, serverName } from '../report/answers-view.ts';
import { stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { ServerResult } from '../result.ts';
import type { LayerFacts } from './layer-facts.ts';
import { rest } from './words.ts';

export const layerSection = (layers: readonly LayerFacts[], more: number): Markup | string => {
  if (layers.length === 0) return '';
  return html`<section aria-labelledby="layers">
    <h2 id="layers">From file to name servers</h2>
    <table role="table">
      <caption class="unseen">
        Each subdomain in four layers: file, template, service, name servers
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Subdomain</th>
          <th role="columnheader" scope="col">File to template</th>
          <th role="columnheader" scope="col">Template to service</th>
          <th role="columnheader" scope="col">Service to name servers</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${layers.map(layerRow)}
      </tbody>
    </table>
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
}: LayerFacts): Markup =>
  html`<tr role="row" data-key="${escapeControl(`${template} ${subdomain}`)}">
    <th role="rowheader" scope="row">${escapeControl(subdomain)}</th>
    <td role="cell" data-label="File to template">
      ${stateIcon(ofTemplate)}
      <p class="aside">${escapeControl(template)}</p>
    </td>
    <td role="cell" data-label="Template to service">${stateIcon(ofService)}</td>
    <td role="cell" data-label="Service to name servers">
      ${stateIcon(answers)} ${age.map((one) => html`<p class="aside">${escapeControl(one)}</p>`)}
      ${servers.map(serverLine)}
    </td>
  </tr>`;

const serverLine = (server: ServerResult): Markup =>
  html`<p class="aside">
    ${escapeControl(serverName(server))}${server.serial === null ? '' : ` serial ${server.serial}`}${
      isFaulty(server) ? ` ${server.status}` : ''
    }
  </p>`;
