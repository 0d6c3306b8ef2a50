import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import type { RecordData } from '../model/record.ts';
import { isFragmentPath } from '../model/template.ts';
import { encoded } from '../report/address.ts';
import { differenceSection, problemSection, rest, rowList } from '../report/html.ts';
import { html, type Markup, type MarkupValue, stateIcon } from '../report/markup.ts';
import { recordText, rowBetween, wordOf, type ReportRow } from '../report/row.ts';
import { follows, problemView, sectionOf, worstFirst } from '../report/view.ts';
import { withoutApplied, worstOf, type TemplateResult } from '../result.ts';
import { outage } from './clients.ts';
import type { TemplateFacts, WriteEntry, Writes } from './facts.ts';
import { actionBar, templateActions } from './forms.ts';
import { type Frame, htmlPage } from './frame.ts';
import { firstOf, lastKnown } from './query.ts';

/** The templates of one name: what differs, their other records, their subdomains and their writes. */
export const renderTemplatePage = (frame: Frame, of: TemplateFacts): string => {
  const { name, files, results, writes } = of;
  const { clients, root } = frame;
  const found = worstFirst(results.map(lastKnown).flatMap(({ templates }) => templates)).map(withoutApplied);
  const owners = clients.filter(({ client }) => [...files, ...found].some((one) => one.client === client));
  const state = found.length === 0 ? 'pending' : worstOf(found.map(({ status }) => status));
  // Any fragment may be part of a template's file.
  const problems = results
    .flatMap((result) => result.problems)
    .filter(({ client, file }) =>
      found.some(
        (one) => one.client === client && file !== null && (file === one.file || isFragmentPath(file)),
      ),
    );
  return htmlPage({
    frame,
    root,
    title: `${wordOf(state)}: ${escapeControl(name)}`,
    main: html`<p class="way"><a href="${root}">← all templates</a></p>
      ${actionBar(frame, owners.length === 1 ? owners[0]!.client : null)} ${outage(owners)}
      ${
        found.length === 0 &&
        html`<h2>${escapeControl(name)}</h2>
          <p>It has not been compared with the service yet.</p>`
      }
      ${problemSection(problems.map((problem) => problemView(problem, clients.length > 1)))}
      ${found.map((template) => templateSections(template, of, frame))}
      ${writeSection(writes, frame, `api/history?template=${encoded(name)}`)}`,
  });
};

const templateSections = (whole: TemplateResult, { files, results }: TemplateFacts, frame: Frame): Markup => {
  const { client, id, file } = whole;
  const newest = results.find((one) => one.client === client);
  const section = sectionOf(firstOf(whole, maxRows), frame.clients.length > 1, newest?.commits ?? []);
  const followers = whole.subdomains.filter(follows).map(({ subdomain }) => escapeControl(subdomain));
  const described = files.find(
    (one) => one.client === client && (one.desired.id === id || one.desired.source.file === file),
  );
  // Its file has errors, so the service's records are shown; nothing if several have its name.
  const [stored, another] = (newest?.withInvalidFile ?? []).filter((one) =>
    id === null ? one.name === whole.template : one.id === id,
  );
  return html`${differenceSection([section], false)}
  ${rest(section.more ?? 0, '', `${frame.root}api/report`, '/api/report')}
  ${newest?.dryRun === true && html`<p>Dry run: nothing is written.</p>`} ${templateActions(frame, whole)}
  ${followers.length > 0 && html`<p>${stateIcon('in-sync')} ${followers.join(', ')}</p>`}
  ${
    described !== undefined
      ? recordSection('in the file', described.desired.records, ({ source }) =>
          // The file is named once, above.
          source.file === described.desired.source.file
            ? `line ${source.line}`
            : `${source.file}:${source.line}`,
        )
      : another === undefined &&
        recordSection('at the service', stored?.records ?? [], (record) => `record ${record.id}`)
  }`;
};

/** Differences, and records. */
const maxRows = 1_000;

const recordSection = <Shown extends RecordData>(
  where: string,
  records: readonly Shown[],
  placeOf: (record: Shown) => string,
): MarkupValue =>
  records.length > 0 &&
  html`<section>
    <h2>${plural(records.length, 'record')} ${where}</h2>
    <ul class="list records">
      ${records
        .slice(0, maxRows)
        .map(
          (one) =>
            html`<li>
              <code>${recordText(one)}</code> <span class="aside">${escapeControl(placeOf(one))}</span>
            </li>`,
        )}
    </ul>
    ${records.length > maxRows && html`<p class="rest">and ${records.length - maxRows} more</p>`}
  </section>`;

/** The last writes of all templates. */
export const renderWrites = (frame: Frame, writes: Writes): string =>
  htmlPage({
    frame,
    root: frame.root,
    title: 'Writes',
    main: html`<p class="way"><a href="${frame.root}">← all templates</a></p>
      ${writeSection(writes, frame, 'api/history')}`,
  });

/** The writes, before and after. `history`: where all of them are. */
const writeSection = (writes: Writes, { clients, root }: Frame, history: string): Markup =>
  html`<section aria-labelledby="writes">
    <h2 id="writes">Writes</h2>
    ${
      typeof writes === 'string' &&
      html`<p class="red">The history cannot be read: ${escapeControl(writes)}</p>`
    }
    ${writes.length === 0 && html`<p>Nothing has been written yet.</p>`}
    ${typeof writes === 'object' && rowList(writes.map((write) => rowOfWrite(write, clients.length > 1)))}
    <p class="rest">The newest 1,000 are in <a href="${root}${history}">/${history}</a>.</p>
  </section>`;

const rowOfWrite = (write: WriteEntry, withClient: boolean): ReportRow => {
  const { at, client, template, action, recordId, before, after, outcome, error } = write;
  const place = [at, withClient ? `${client}: ${template}` : template];
  return {
    ...rowBetween(action, before, after),
    why: [wordOf(outcome)],
    where: (recordId === null ? place : [...place, `record ${recordId}`]).map(escapeControl),
    notes: error === null ? [] : [escapeControl(error)],
  };
};
