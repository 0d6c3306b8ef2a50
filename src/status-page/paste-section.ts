import { escapeControl } from '../lib/escape-control.ts';
import { html, type Markup } from '../report/markup.ts';
import type { ShownPaste, TemplateDetails } from './facts.ts';
import { encoded } from './query.ts';

/** The other way to end differences: the files say what the service has. */
export const pasteSection = (
  { template, pastes, morePastes }: TemplateDetails,
  title: string,
): Markup | string =>
  pastes.length + morePastes === 0
    ? ''
    : html`<details data-key="accept ${title}">
        <summary>Accept what the service has</summary>
        <p>
          Change the files by hand, or run
          <code>dns-template-sync accept ${escapeControl(template.template)}</code>, which keeps comments and
          variables. If an entry lists several contents, take the old one out of its list, and add the new
          entry to <code>records</code>.
        </p>
        <ul class="pastes">
          ${pastes.map((paste) => pasteItem(paste, pasteId(template, paste.at)))}
        </ul>
        ${morePastes === 0 ? '' : html`<p class="rest">and ${String(morePastes)} more: run the command</p>`}
      </details>`;

/** In the row of a difference, to what ends it the other way. */
export const pasteLink = ({ template, pastes }: TemplateDetails, at: number): Markup[] =>
  pastes.some((paste) => paste.at === at)
    ? [html`<p><a href="#${pasteId(template, at)}">Accept it: the YAML to paste</a></p>`]
    : [];

/** Where the page says what to paste for each difference. */
const pasteId = ({ client, id }: TemplateDetails['template'], at: number): string =>
  `accept-${encoded(client)}-${id ?? 0}-${at + 1}`;

const pasteItem = ({ place, before, yaml }: ShownPaste, id: string): Markup => {
  const where = html`In <code>${escapeControl(place)}</code>`;
  // Invisible characters are escaped in it, as YAML spells them.
  const entry = yaml === null ? '' : html`<pre><code>${yaml}</code></pre>`;
  if (before === null) return html`<li id="${id}">${where}, add to <code>records</code>: ${entry}</li>`;
  const record = html`<code
    >${escapeControl(`${before.name || '@'} ${before.type} ${before.content}`)}</code
  >`;
  return yaml === null
    ? html`<li id="${id}">${where}, remove ${record}</li>`
    : html`<li id="${id}">${where}, replace ${record} by: ${entry}</li>`;
};
