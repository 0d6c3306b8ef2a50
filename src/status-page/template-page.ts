import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { fileOf, problemSection, sidesHeading, subdomainPart } from '../report/html-parts.ts';
import { dryRunSides, rowList, templateSides } from '../report/html-row.ts';
import { prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import { problemView, templateView } from '../report/view.ts';
import { worstOf } from '../result.ts';
import { actionBar, templateActions } from './actions.ts';
import type { ShownRecord, TemplateDetails, TemplateSummary } from './facts.ts';
import { follows } from './matches.ts';
import { frame } from './frame.ts';
import { pasteLink, pasteSection } from './paste-section.ts';
import { causes, titleOf } from './state.ts';
import { encoded, templateAddress } from './query.ts';
import { rest } from './words.ts';
import { writeSection } from './writes.ts';

/** One template: its differences, all its records, its subdomains and its writes. */
export const renderTemplatePage = (facts: TemplateSummary): string => {
  const { name, templates, problems, writes, clients, hasSeveralClients } = facts;
  const state =
    templates.length === 0 ? 'pending' : worstOf(templates.map(({ template }) => template.status));
  const [only] = templates.length === 1 ? templates : [];
  const shown = { page: only?.href ?? templateAddress(name, null), client: only?.template.client ?? null };
  const history = `/api/history?template=${encoded(name)}`;
  return frame({
    facts,
    state,
    title: `${titleOf(state)}: ${escapeControl(name)}`,
    reloads: facts.acting.kind !== 'signed-in',
    main: html`<p class="way"><a href="/">← all templates</a></p>
      ${templates.length === 0 ? '' : actionBar(facts.acting, shown)} ${causes(clients, facts)}
      ${
        templates.length === 0
          ? html`<section>
              <h2>${escapeControl(name)}</h2>
              <p>There is no template of this name, or it has not been read yet.</p>
            </section>`
          : ''
      }
      ${problemSection(
        problems.map((problem) => problemView(problem, hasSeveralClients)),
        { isAlone: true },
      )}
      ${templates.map((details) => templateSections(details, facts))}
      ${templates.length === 0 ? '' : writeSection(writes, facts, { withClient: hasSeveralClients, history })}`,
  });
};

const templateSections = (details: TemplateDetails, clock: TemplateSummary): Markup => {
  const view = templateView(details.template, clock.hasSeveralClients, clock.commits);
  const { title, status, counts, message, rows, subdomains } = view;
  const followers = details.template.subdomains.filter(follows);
  const { more } = details;
  return html`<section class="now ${status}" data-key="${title}">
      <h2>${title}</h2>
      <p class="state">${stateIcon(status)}</p>
      <p class="summary">${counts}</p>
      <p class="meta">${fileOf(view)}</p>
      ${templateActions(clock.acting, { page: details.href, client: details.template.client, template: details.template.template })}
    </section>
    ${message === null ? '' : html`<p class="message">${prose(message, clock)}</p>`}
    ${
      rows.length === 0
        ? ''
        : html`<section aria-label="What differs in ${title}">
            <h2>What differs</h2>
            ${sidesHeading}
            ${rowList(rows, details.dryRun ? dryRunSides : templateSides, clock, (at) => pasteLink(details, at))}
            ${rest(more.differences, 'difference', '/api/report')} ${pasteSection(details, title)}
          </section>`
    }
    ${
      details.template.subdomains.length === 0
        ? ''
        : html`<section aria-label="Subdomains of ${title}">
            <h2>Subdomains</h2>
            ${subdomains.map((subdomain) => subdomainPart(subdomain, clock))}
            ${rest(more.subdomains, 'subdomain', '/api/report')}
            ${rest(more.subdomainDifferences, 'difference', '/api/report')}
            ${
              followers.length === 0
                ? ''
                : html`<p>
                    ${stateIcon('in-sync')}
                    ${followers.map(({ subdomain }) => escapeControl(subdomain)).join(', ')}
                  </p>`
            }
          </section>`
    }
    ${recordSection(details, title)}`;
};

const recordSection = (
  { template, records, recordsOf, moreRecords }: TemplateDetails,
  title: string,
): Markup | string =>
  records.length === 0
    ? ''
    : html`<section aria-label="Records of ${title}">
        <h2>${plural(records.length + moreRecords, 'record')} ${at[recordsOf]}</h2>
        <ul class="records">
          ${records.map((record) => recordItem(record, template.file))}
        </ul>
        ${moreRecords === 0 ? '' : html`<p class="rest">and ${plural(moreRecords, 'record')} more ${at[recordsOf]}</p>`}
      </section>`;

const at = { file: 'in the file', service: 'at the service' } as const;

/** The file is named once, above. */
const recordItem = ({ record, place, state }: ShownRecord, file: string): Markup => {
  const { type, name, content, priority, ttl } = record;
  const facts = [
    ...(priority === null ? [] : [`priority ${priority}`]),
    ...(ttl === null ? [] : [`ttl ${ttl}`]),
  ];
  return html`<li>
    <span class="${state ?? ''}">${state === null ? '' : stateIcons[state]}</span>
    <code class="type">${escapeControl(type)}</code> <code class="name">${escapeControl(name || '@')}</code>
    <code class="content">${escapeControl(content)}</code> <span class="aside">${facts.join(', ')}</span>
    <span class="aside"
      >${escapeControl(place.startsWith(`${file}:`) ? `line ${place.slice(file.length + 1)}` : place)}</span
    >
  </li>`;
};

const stateIcons: Readonly<Record<NonNullable<ShownRecord['state']>, Markup>> = {
  'in-sync': html`<span class="sign"><span aria-hidden="true">●</span> in sync</span>`,
  add: html`<span class="sign"><span aria-hidden="true">+</span> missing</span>`,
  update: html`<span class="sign"><span aria-hidden="true">~</span> differs</span>`,
  park: html`<span class="sign"><span aria-hidden="true">»</span> park</span>`,
  surplus: html`<span class="sign"><span aria-hidden="true">?</span> surplus</span>`,
  blocked: html`<span class="sign"><span aria-hidden="true">!</span> blocked</span>`,
};
