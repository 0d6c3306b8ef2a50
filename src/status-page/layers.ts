import { escapeControl } from '../lib/escape-control.ts';
import { hasTrouble, isFaulty, serverName } from '../report/answers-view.ts';
import { sign } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { ServerResult, Status, SubdomainAnswers, SubdomainResult, TemplateResult } from '../result.ts';
import { rest } from './words.ts';

/** A subdomain from the file to what the world sees: how each layer agrees with the one before. */
export interface LayerFacts {
  readonly subdomain: string;
  readonly template: string;
  readonly ofTemplate: Status;
  readonly ofService: SubdomainResult['status'];
  readonly answers: SubdomainAnswers['status'];
  readonly servers: readonly ServerResult[];
}

/** Of all subdomains whose name servers were asked, those first where something is wrong. */
export const layersOf = (
  templates: readonly TemplateResult[],
): { readonly layers: readonly LayerFacts[]; readonly moreLayers: number } => {
  const all = templates.flatMap((template) =>
    template.subdomains.flatMap((subdomain) =>
      subdomain.answers.status === 'off' ? [] : { template, subdomain },
    ),
  );
  const isWrong = ({ subdomain: { status, answers } }: (typeof all)[number]): boolean =>
    status !== 'in-sync' || hasTrouble(answers);
  const sorted = [...all.filter(isWrong), ...all.filter((one) => !isWrong(one))];
  return {
    layers: sorted.slice(0, mostLayers).map(layerOf),
    moreLayers: Math.max(0, all.length - mostLayers),
  };
};

const mostLayers = 100;
const mostServers = 8;

const layerOf = ({
  template,
  subdomain: { subdomain, status, answers },
}: {
  readonly template: TemplateResult;
  readonly subdomain: SubdomainResult;
}): LayerFacts => ({
  subdomain,
  template: template.template,
  ofTemplate: template.status === 'held' ? 'held' : template.differences.length > 0 ? 'drifted' : 'in-sync',
  ofService: status,
  answers: answers.status,
  servers: answers.servers.slice(0, mostServers),
});

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

const layerRow = ({ subdomain, template, ofTemplate, ofService, answers, servers }: LayerFacts): Markup =>
  html`<tr role="row" data-key="${escapeControl(`${template} ${subdomain}`)}">
    <th role="rowheader" scope="row">${escapeControl(subdomain)}</th>
    <td role="cell" data-label="File to template">
      ${sign(ofTemplate)}
      <p class="aside">${escapeControl(template)}</p>
    </td>
    <td role="cell" data-label="Template to service">${sign(ofService)}</td>
    <td role="cell" data-label="Service to name servers">${sign(answers)} ${servers.map(serverLine)}</td>
  </tr>`;

const serverLine = (server: ServerResult): Markup =>
  html`<p class="aside">
    ${escapeControl(serverName(server))}${server.serial === null ? '' : ` serial ${server.serial}`}${
      isFaulty(server) ? ` ${server.status}` : ''
    }
  </p>`;
