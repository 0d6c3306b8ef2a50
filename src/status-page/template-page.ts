import { pastesFor } from '../import/changes.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { hasPriority, type RecordData } from '../model/record.ts';
import { isFragmentPath, type DesiredTemplate } from '../model/template.ts';
import { rowList } from '../report/html-row.ts';
import { fileOf, problemSection, sidesHeading, subdomainPart } from '../report/html-template.ts';
import { icons, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import { follows, problemView, templateView } from '../report/view.ts';
import { worstFirst } from '../report/worst-first.ts';
import { withoutApplied, worstOf, type PassResult, type TemplateResult } from '../result.ts';
import { outage } from './clients.ts';
import type { TemplateFacts } from './facts.ts';
import { actionBar, templateActions } from './forms.ts';
import { type Frame, htmlPage, rest } from './frame.ts';
import { encoded } from './query.ts';
import { firstOf, lastKnown } from './excerpt.ts';
import { writeSection } from './writes.ts';

/** The templates of one name: what differs, their other records, their subdomains and their writes. */
export const renderTemplatePage = (frame: Frame, of: TemplateFacts): string => {
  const { name, files, results, writes } = of;
  const { clients, root } = frame;
  const found = worstFirst(results.map(lastKnown).flatMap(({ templates }) => templates)).map(withoutApplied);
  const owners = clients.filter(({ client }) => [...files, ...found].some((one) => one.client === client));
  const state = found.length === 0 ? 'pending' : worstOf(found.map(({ status }) => status));
  const problems = results
    .flatMap((result) => result.problems)
    .filter((problem) => found.some((one) => concerns(problem, one)));
  return htmlPage({
    frame,
    root,
    title: `${icons[state]?.[1] ?? state}: ${escapeControl(name)}`,
    main: html`<p class="way"><a href="${root}">← all templates</a></p>
      ${actionBar(frame, owners.length === 1 ? owners[0]!.client : null)} ${outage(owners, frame)}
      ${found.length === 0 && html`<h2>${escapeControl(name)}</h2>`}
      ${found.length === 0 && html`<p>It has not been compared with the service yet.</p>`}
      ${problemSection(problems.map((problem) => problemView(problem, clients.length > 1)))}
      ${found.map((template) => {
        const { client, id, file } = template;
        const { desired } =
          files.find(
            (one) => one.client === client && (one.desired.id === id || one.desired.source.file === file),
          ) ?? {};
        const newest = results.find((one) => one.client === client);
        return templateSections(template, desired, newest, frame);
      })}
      ${writeSection(writes, frame, `api/history?template=${encoded(name)}`)}`,
  });
};

/** The fragments of an invalid file are not known here: any of them may have the error. */
const concerns = (
  { file, client }: PassResult['problems'][number],
  { file: own, client: owner, status, inSync, differences }: TemplateResult,
): boolean => {
  const isInvalid = status === 'held' && inSync + differences.length === 0;
  return client === owner && file !== null && (file === own || (isInvalid && isFragmentPath(file)));
};

/** `desired`: as its file describes it; undefined if that cannot be read. */
const templateSections = (
  whole: TemplateResult,
  desired: DesiredTemplate | undefined,
  newest: PassResult | undefined,
  frame: Frame,
): Markup => {
  const { template, more } = firstOf(whole, maxRows);
  const view = templateView(template, frame.clients.length > 1, newest?.commits ?? []);
  const { title, status, counts, message, rows, subdomains } = view;
  const pastes = desired === undefined ? [] : pastesFor(desired, template.differences.slice(0, maxPastes));
  const followers = template.subdomains.filter(follows).map(({ subdomain }) => escapeControl(subdomain));
  const records =
    desired === undefined
      ? recordsAtService(whole, newest?.withInvalidFile ?? [])
      : recordsInFile(desired, whole);
  return html`<section class="now ${status}">
      <h2>${title}</h2>
      <p class="state">${stateIcon(status)}</p>
      <p class="summary">${counts}</p>
      <p class="meta">${fileOf(view)}${newest?.dryRun === true && ' · Dry run: nothing is written.'}</p>
    </section>
    ${templateActions(frame, template)}
    ${message !== null && html`<p class="message">${prose(message, frame)}</p>`}
    ${
      rows.length > 0 &&
      html`<section>
        <h2>What differs</h2>
        ${sidesHeading}
        ${rowList(rows, frame, (at) => pastes.filter((paste) => paste.at === at).map(pasteText))}
      </section>`
    }
    ${
      template.subdomains.length > 0 &&
      html`<section>
        <h2>Subdomains</h2>
        ${subdomains.map((subdomain) => subdomainPart(subdomain, frame))}
        ${followers.length > 0 && html`<p>${stateIcon('in-sync')} ${followers.join(', ')}</p>`}
      </section>`
    }
    ${rest(more, 'difference', `${frame.root}api/report`, '/api/report')} ${records}`;
};

/** Differences, and records; and differences of which a page says how to accept them. */
const maxRows = 1_000;
const maxPastes = 100;

/** The other way to end a difference: the file says what the service has. */
const pasteText = ({ place, before, yaml }: ReturnType<typeof pastesFor>[number]): Markup => {
  const where = html`To accept it, in <code>${escapeControl(place)}</code>`;
  const record =
    before && html`<code>${escapeControl(`${before.name || '@'} ${before.type} ${before.content}`)}</code>`;
  if (yaml === null) return html`<p>${where} remove ${record}</p>`;
  // Invisible characters are escaped in it, as YAML spells them.
  return html`<p>${where} ${record ? html`replace ${record} by` : html`add to <code>records</code>`}</p>
    <pre><code>${yaml.length > maxPaste ? '# too long to show: run accept' : yaml}</code></pre>`;
};

/** Characters. */
const maxPaste = 10_000;

/** Those that do not differ, with their lines; if nothing was compared, all of them. */
const recordsInFile = (
  { records, source: own }: DesiredTemplate,
  { inSync, differences }: TemplateResult,
): MarkupValue => {
  const keyOf = ({ type, content }: RecordData, { file, line, column }: DesiredTemplate['source']): string =>
    JSON.stringify([file, line, column, type, content]);
  const open = new Set(differences.flatMap((one) => ('source' in one ? keyOf(one.desired, one.source) : [])));
  const others = records.filter((record) => !open.has(keyOf(record, record.source)));
  const placed = others.map((record) => {
    const { file, line } = record.source;
    // The file is named once, above.
    return [record, file === own.file ? `line ${line}` : `${file}:${line}`] as const;
  });
  return recordSection(inSync === 0 ? 'in the file' : 'in sync', placed);
};

/** What the service has for a template whose file has errors; nothing if several have its name. */
const recordsAtService = (
  { template, id }: TemplateResult,
  all: NonNullable<PassResult['withInvalidFile']>,
): MarkupValue => {
  const [found, another] = all.filter((one) => (id === null ? one.name === template : one.id === id));
  if (found === undefined || another !== undefined) return null;
  return recordSection(
    'at the service',
    found.records.map((record) => [record, `record ${record.id}`]),
  );
};

const recordSection = (
  where: string,
  records: readonly (readonly [RecordData, place: string])[],
): MarkupValue =>
  records.length > 0 &&
  html`<section>
    <h2>${plural(records.length, 'record')} ${where}</h2>
    <ul class="records">
      ${records.slice(0, maxRows).map(([{ type, name, content, priority, ttl }, place]) => {
        const isRanked = priority !== null && hasPriority(type.toUpperCase());
        return html`<li>
          <code class="type">${escapeControl(type)}</code>
          <code class="name">${escapeControl(name || '@')}</code>
          <code class="content">${escapeControl(content)}</code>
          <span class="aside"
            >${isRanked && `priority ${priority} `}${ttl !== null && `ttl ${ttl} `}${escapeControl(place)}</span
          >
        </li>`;
      })}
    </ul>
    ${records.length > maxRows && html`<p class="rest">and ${records.length - maxRows} more</p>`}
  </section>`;
