import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { iconOfRow, rowList } from '../report/html-row.ts';
import { fileOf, problemSection, sidesHeading, sidesOf, subdomainPart } from '../report/html-template.ts';
import { icons, prose, stateIcon } from '../report/html-words.ts';
import type { RecordData } from '../model/record.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import { follows, problemView, templateView } from '../report/view.ts';
import { worstOf } from '../result.ts';
import { actionBar, templateActions } from './acting.ts';
import type { ShownPaste, ShownRecord, TemplateDetails, TemplateSummary } from './facts.ts';
import { framed } from './frame.ts';
import { rest } from './parts.ts';
import { encoded } from './query.ts';
import { causes } from './clients.ts';
import { writeSection } from './writes-page.ts';

/** One template: its differences, all its records, its subdomains and its writes. */
export const renderTemplatePage = (facts: TemplateSummary): string => {
  const { name, templates, problems, writes, clients, hasSeveralClients, root } = facts;
  const state =
    templates.length === 0 ? 'pending' : worstOf(templates.map(({ template }) => template.status));
  const owners = new Set(templates.map(({ template }) => template.client));
  const client = owners.size === 1 ? [...owners].join('') : null;
  const acting = clients.filter((one) => client === null || one.client === client);
  return framed({
    frame: facts,
    state,
    title: `${icons[state]?.[1] ?? state}: ${escapeControl(name)}`,
    reloads: facts.reader.role !== 'act',
    main: html`<p class="way"><a href="${root}">← all templates</a></p>
      ${actionBar(facts, { client }, acting)} ${causes(clients, facts)}
      ${
        templates.length === 0 &&
        html`<section>
          <h2>${escapeControl(name)}</h2>
          <p>There is no template of this name, or it has not been read yet.</p>
        </section>`
      }
      ${problemSection(
        problems.map((problem) => problemView(problem, hasSeveralClients)),
        { isAlone: true },
      )}
      ${templates.map((details) => templateSections(details, facts))}
      ${writeSection(writes, facts, { withClient: hasSeveralClients, history: `api/history?template=${encoded(name)}` })}`,
  });
};

const templateSections = (details: TemplateDetails, clock: TemplateSummary): Markup => {
  const view = templateView(details.template, clock.hasSeveralClients, clock.commits);
  const { title, status, counts, message, rows, subdomains } = view;
  const followers = details.template.subdomains.filter(follows);
  const report = `${clock.root}api/report`;
  return html`<section class="now ${status}">
      <h2>${title}</h2>
      <p class="state">${stateIcon(status)}</p>
      <p class="summary">${counts}</p>
      <p class="meta">${fileOf(view)}</p>
    </section>
    ${templateActions(clock, details.template)}
    ${message !== null && html`<p class="message">${prose(message, clock)}</p>`}
    ${
      rows.length > 0 &&
      html`<section aria-label="What differs in ${title}">
        <h2>What differs</h2>
        ${sidesHeading}
        ${rowList(rows, sidesOf({ isReadOnly: details.dryRun }), clock, (at) => pasteLink(details, at))}
        ${pasteSection(details, title)}
      </section>`
    }
    ${
      details.template.subdomains.length > 0 &&
      html`<section aria-label="Subdomains of ${title}">
        <h2>Subdomains</h2>
        ${subdomains.map((subdomain) => subdomainPart(subdomain, clock))}
        ${
          followers.length > 0 &&
          html`<p>
            ${stateIcon('in-sync')} ${followers.map(({ subdomain }) => escapeControl(subdomain)).join(', ')}
          </p>`
        }
      </section>`
    }
    ${rest(details.more, 'difference', report, '/api/report')} ${recordSection(details, title)}`;
};

const recordSection = (
  { template, records, recordsOf, moreRecords }: TemplateDetails,
  title: string,
): MarkupValue => {
  const extra = records.filter(({ state }) => state === 'surplus' || state === 'park').length;
  const heading = [
    `${plural(records.length - extra + moreRecords, 'record')} ${places[recordsOf]}`,
    ...(extra === 0 ? [] : [`${extra} more at the service`]),
  ].join(', ');
  return (
    records.length > 0 &&
    html`<section aria-label="Records of ${title}">
      <h2>${heading}</h2>
      <ul class="records">
        ${records.map((record) => recordItem(record, template.file))}
      </ul>
      ${moreRecords > 0 && html`<p class="rest">and ${plural(moreRecords, 'record')} more ${places[recordsOf]}</p>`}
    </section>`
  );
};

const places = { file: 'in the file', service: 'at the service' } as const;

/** The file is named once, above. */
const recordItem = ({ record, place, state, actual }: ShownRecord, file: string): Markup => {
  const { type, name, content } = record;
  return html`<li>
    <span class="${state}">${state !== null && iconOfRow(signs[state])}</span>
    <code class="type">${escapeControl(type)}</code> <code class="name">${escapeControl(name || '@')}</code>
    <span class="content"
      ><code>${escapeControl(content)}</code> ${
        actual !== null &&
        html`<span class="aside"
          >at the service: <code>${escapeControl(actual.content)}</code> ${factsOf(actual)}</span
        >`
      }</span
    >
    <span class="aside">${factsOf(record)}</span>
    <span class="aside"
      >${escapeControl(place.startsWith(`${file}:`) ? `line ${place.slice(file.length + 1)}` : place)}</span
    >
  </li>`;
};

const factsOf = ({ priority, ttl }: RecordData): string =>
  [priority === null ? [] : `priority ${priority}`, ttl === null ? [] : `ttl ${ttl}`].flat().join(', ');

const signs: Readonly<Record<NonNullable<ShownRecord['state']>, Parameters<typeof iconOfRow>[0]>> = {
  'in-sync': { sign: '●', word: 'in sync' },
  add: { sign: '+', word: 'missing' },
  update: { sign: '~', word: 'differs' },
  park: { sign: '»', word: 'park' },
  surplus: { sign: '?', word: 'surplus' },
  blocked: { sign: '!', word: 'blocked' },
};

/** The other way to end differences: the files say what the service has. */
const pasteSection = ({ template, pastes, morePastes }: TemplateDetails, title: string): MarkupValue =>
  pastes.length + morePastes > 0 &&
  html`<details data-key="accept ${title}">
    <summary>Accept what the service has</summary>
    <p>
      Change the files by hand, or run
      <code>dns-template-sync accept ${escapeControl(template.template)}</code>, which keeps comments and
      variables. If an entry lists several contents, take the old one out of its list, and add the new entry
      to <code>records</code>.
    </p>
    <ul class="pastes">
      ${pastes.map((paste) => pasteItem(paste, pasteId(template, paste.at)))}
    </ul>
    ${morePastes > 0 && html`<p class="rest">and ${morePastes} more: run the command</p>`}
  </details>`;

/** In the row of a difference, to what ends it the other way. */
const pasteLink = ({ template, pastes }: TemplateDetails, at: number): MarkupValue =>
  pastes.some((paste) => paste.at === at) &&
  html`<p><a href="#${pasteId(template, at)}">Accept it: the YAML to paste</a></p>`;

/** Where the page says what to paste for each difference. */
const pasteId = ({ client, id }: TemplateDetails['template'], at: number): string =>
  `accept-${encoded(client)}-${id ?? 0}-${at + 1}`;

const pasteItem = ({ place, before, yaml }: ShownPaste, id: string): Markup => {
  const where = html`In <code>${escapeControl(place)}</code>`;
  // Invisible characters are escaped in it, as YAML spells them.
  const entry = yaml !== null && html`<pre><code>${yaml}</code></pre>`;
  if (before === null) return html`<li id="${id}">${where}, add to <code>records</code>: ${entry}</li>`;
  const record = html`<code
    >${escapeControl(`${before.name || '@'} ${before.type} ${before.content}`)}</code
  >`;
  return yaml === null
    ? html`<li id="${id}">${where}, remove ${record}</li>`
    : html`<li id="${id}">${where}, replace ${record} by: ${entry}</li>`;
};
