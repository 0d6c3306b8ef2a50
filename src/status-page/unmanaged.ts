import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { html, type Markup } from '../report/markup.ts';
import type { Excerpt } from './excerpt.ts';
import { rest } from './words.ts';

/** The templates of the service that no file describes. */
export const unmanagedSection = ({
  report: { unmanaged },
  moreUnmanaged,
  hasSeveralClients,
}: Excerpt): Markup | string =>
  unmanaged.length === 0
    ? ''
    : html`<section aria-labelledby="unmanaged">
        <h2 id="unmanaged">${plural(unmanaged.length + moreUnmanaged, 'template')} without a file</h2>
        <p class="aside">They stay at the service as they are. <code>import</code> writes files for them.</p>
        <ul class="quiet">
          ${unmanaged.map(({ client, template, id, records, hadFile }) => {
            const title = escapeControl(`${hasSeveralClients ? `${client}: ` : ''}${template} (${id})`);
            return html`<li data-key="${title}">
              ${title}
              <span class="aside">${plural(records, 'record')}${hadFile ? ', its file is gone' : ''}</span>
            </li>`;
          })}
        </ul>
        ${rest(moreUnmanaged, 'template', '/api/report')}
      </section>`;
