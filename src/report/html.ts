import { plural } from '../lib/plural.ts';
import type { Report } from '../result.ts';
import { style } from './html-style.ts';
import { html, linked, Markup, type MarkupValue, stateIcon, withCode, withMoments } from './markup.ts';
import { states, wordOf, type ReportRow, type State } from './row.ts';
import { type SubdomainView, type TemplateView, type View, viewOf } from './view.ts';

/** The report as one self-contained page: no script, font or image. */
export const renderHtml = (report: Report): string => {
  const { run, trigger, startedAt, durationMs, dryRun } = report;
  const view = viewOf(report);
  const meta =
    run !== '' &&
    `Started by ${trigger} at ${startedAt}, took ${durationMs} ms. ${dryRun ? 'Nothing was written.' : ''}`;
  const page = htmlDocument({
    title: `${wordOf(view.status)}: dns-template-sync`,
    head: html`<meta
      http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'"
    />`,
    style,
    body: html`<header><h1>dns-template-sync</h1></header>
      <main>${reportBody(view, { state: view.status, meta })}</main>
      <footer>${legend}</footer>`,
  });
  return withMoments(page);
};

interface DocumentParts {
  readonly title: string;
  readonly head: MarkupValue;
  /** CSS. */
  readonly style: string;
  /** Of its root. */
  readonly attributes?: MarkupValue;
  readonly body: Markup;
}

export const htmlDocument = ({ title, head, style: css, attributes, body }: DocumentParts): Markup =>
  html`<!doctype html>
    <html lang="en" ${attributes}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        ${head} ${new Markup(`<style>${css}</style>`)}
      </head>
      <body>
        ${body}
      </body>
    </html>`;

interface BodyParts {
  /** In a word. */
  readonly state: State;
  /** Why that is no matter of one template. */
  readonly why?: MarkupValue;
  readonly summary?: string;
  /** When and how the report was made. */
  readonly meta: MarkupValue;
  /** What stands before all that differs. */
  readonly tools?: MarkupValue;
  /** Of a report that is part of a larger one. */
  readonly left?: typeof nothingLeft;
  readonly hrefOf?: HrefOf;
  readonly calmHref?: string;
}

type HrefOf = (template: TemplateView) => string;

const nothingLeft = { groups: 0, problems: 0, calm: 0 };

/** What a report says: what needs a person first, then the rest. */
export const reportBody = (view: View, parts: BodyParts): Markup => {
  const { problems, causes, groups, quiet, aside } = view;
  const { state, why, summary = view.summary, meta, tools, left = nothingLeft, hrefOf, calmHref } = parts;
  const all = quiet.length + left.calm;
  return html`<section class="now ${states[state][2]}" aria-labelledby="now-title">
      <h2 id="now-title" class="unseen">State</h2>
      <p class="state">${stateIcon(state)}</p>
      ${why}
      <p class="summary" role="status">${summary}</p>
      <p class="meta">${meta}</p>
    </section>
    ${tools} ${problemSection(problems, left.problems)}
    ${differenceSection(groups, hrefOf, rest(left.groups, 'template', 'api/report'))}
    ${causes !== null && html`<p class="aside">${causes}</p>`}
    ${
      all > 0 &&
      html`<p class="calm">${stateIcon('in-sync')} ${linked(plural(all, 'template'), calmHref)}</p>`
    }
    ${hrefOf && quiet.length > 0 && names(quiet, hrefOf)}
    ${aside !== null && html`<p class="aside">${withCode(aside, true)}</p>`}`;
};

export const problemSection = (problems: View['problems'], more = 0): MarkupValue =>
  problems.length > 0 &&
  html`<section aria-labelledby="problems">
    <h2 id="problems">${plural(problems.length + more, 'problem')} in template files</h2>
    <ul class="list">
      ${problems.map(
        ({ severity, place, message, check }) =>
          html`<li>
            <b class="${severity}">${severity}</b> ${place !== '' && html`<code>${place}</code>`} ${message}
            <code class="aside">${check}</code>
          </li>`,
      )}
    </ul>
    ${rest(more, 'problem', 'api/report')}
  </section>`;

/** What differs, with the record at the service and in the file side by side. */
export const differenceSection = (
  groups: View['groups'],
  hrefOf?: HrefOf,
  after: MarkupValue = null,
): MarkupValue =>
  groups.length > 0 &&
  html`<section aria-labelledby="differences">
    <h2 id="differences" class="unseen">What differs</h2>
    <p class="aside"><del>at the service</del> → <ins>in the file</ins></p>
    ${groups.map((group) => article(group, hrefOf))} ${after}
  </section>`;

/** Templates with the same message and nothing else, or one that differs. */
const article = (group: readonly TemplateView[], hrefOf?: HrefOf): Markup => {
  const first = group[0]!;
  const { title, status, counts, message, toDo, rows, subdomains, file, commitUrl, more } = first;
  const href = hrefOf?.(first);
  const said = html`${message !== null && html`<p class="message">${withCode(message, true)}</p>`}
  ${toDo !== null && html`<p class="todo">To do: ${withCode(toDo)}</p>`}`;
  if (group.length > 1)
    return html`<article>
      <header><h3>${group.length} templates ${stateIcon(status)}</h3></header>
      ${said} ${names(group, hrefOf)}
    </article>`;
  return html`<article>
    <header>
      <h3>${linked(title, href)} ${stateIcon(status)}</h3>
      <p class="aside">${counts !== '' && `${counts} · `}${linked(file, commitUrl)}</p>
    </header>
    ${said} ${rowList(rows)} ${subdomains.map(subdomainPart)}
    ${href !== undefined && rest(more, '', href, 'all of this template')}
  </article>`;
};

const names = (templates: readonly TemplateView[], hrefOf?: HrefOf): Markup =>
  html`<p class="names">
      ${templates.slice(0, maxNames).map((one) => html`<span>${linked(one.title, hrefOf?.(one))}</span>`)}
    </p>
    ${templates.length > maxNames && html`<p class="rest">and ${templates.length - maxNames} more</p>`}`;

const maxNames = 200;

/** How many are not on the page, with a link to them. */
export const rest = (left: number, noun: string, address: string, words = `/${address}`): MarkupValue =>
  left > 0 &&
  html`<p class="rest">
    and ${noun === '' ? left : plural(left, noun)} more: <a href="${address}">${words}</a>
  </p>`;

/** The differences of a subdomain, and those of its name servers. */
const subdomainPart = ({ subdomain, status, message, rows, answers }: SubdomainView): Markup => {
  const labelled = (some: readonly ReportRow[], actual: string, desired: string): MarkupValue =>
    some.length > 0 &&
    html`<p class="aside"><del>${actual}</del> → <ins>${desired}</ins></p>
      ${rowList(some)}`;
  return html`<section class="subdomain">
    <h4>Subdomain ${subdomain} ${stateIcon(status)}</h4>
    ${message !== null && html`<p class="message">${message}</p>`}
    ${labelled(rows, 'at the subdomain', 'in its template')}
    ${
      answers !== null &&
      html`<p>Name servers ${stateIcon(answers.status)}</p>
        ${answers.remarks.map((remark) => html`<p class="message">${remark}</p>`)}
        ${labelled(answers.rows, 'at the name servers', 'at the service')}`
    }
  </section>`;
};

/** A line for each difference; below it the place, why, and what to do. */
export const rowList = (rows: readonly ReportRow[]): MarkupValue =>
  rows.length > 0 &&
  html`<ul class="rows">
    ${rows.map((row) => {
      const { kind, sign, word, color, type, name, outcome, why, where, remark, toDo } = row;
      return html`<li class="row ${kind}">
        <span class="sign ${color}"><span aria-hidden="true">${sign}</span> ${word}</span>
        <code class="type">${type}</code> <code class="name">${name}</code>
        <span class="sides">${sidesOf(row)}</span>
        <span class="cause"
          >${outcome !== null && html`<b class="${states[outcome][2]}">${wordOf(outcome)}</b>`}
          ${why.join(' · ')}</span
        >
        ${where.length > 0 && html`<p class="aside">${where.join(' · ')}</p>`}
        ${remark !== null && html`<p>${withCode(remark, true)}</p>`}
        ${toDo !== null && html`<p class="todo">To do: ${withCode(toDo)}</p>`}
      </li>`;
    })}
  </ul>`;

/** The record, or its changes. */
const sidesOf = ({ values, only }: ReportRow): Markup => {
  const same = values.filter(({ desired }) => desired === null);
  const record = same.flatMap(({ label, text }) => (label === '' ? html`<code>${text}</code>` : []));
  const facts = same.flatMap(({ label, text }) => (label === '' ? [] : `${label}${text}`));
  const stated = facts.length > 0 && html`<span class="aside">${facts.join(', ')}</span>`;
  if (only === 'desired') return html`<i>nothing</i> → <ins>${record}</ins> ${stated}`;
  if (only === 'actual') return html`<del>${record}</del> ${stated} → <i>nothing</i>`;
  const changes = values.flatMap(({ label, text, desired }) => {
    if (desired === null) return [];
    const [from, to] = marked(text, desired);
    return html`<span
      >${label}<del><code>${from}</code></del> → <ins><code>${to}</code></ins></span
    >`;
  });
  return html`${record} <span class="changes">${changes}</span> ${stated}`;
};

/** Both sides of a change, with the part that changes marked. */
const marked = (actual: string, desired: string): [Markup, Markup] => {
  const [from, to] = [Array.from(actual), Array.from(desired)];
  const max = Math.min(from.length, to.length);
  let start = 0;
  while (start < max && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < max - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  // Short texts, and texts with little in common, are easier to read without marks.
  const isMarked = Math.max(from.length, to.length) > 24 && start + end > 6;
  const side = (letters: readonly string[]): Markup => {
    const tail = letters.length - end;
    const part = (first: number, last?: number): string => letters.slice(first, last).join('');
    if (!isMarked || start === tail) return html`${part(0)}`;
    return html`${part(0, start)}<mark>${part(start, tail)}</mark>${part(tail)}`;
  };
  return [side(from), side(to)];
};

/** The terms of the report, for new readers. */
export const legend = html`<p>
  <b>edited</b>: the file changed. <b>drifted</b>: the service changed. <b>surplus</b>: a record that the file
  does not list; the service cannot delete one. <b>unlisted, duplicate</b>: not in the file; a copy of a
  record in use. <b>park</b>: a surplus record gets an unused name and inert content. <b>blocked</b>: not
  written until somebody removes the obstacle. <b>held back</b>: by a mode, a limit or a suspension. <b>@</b>:
  the subdomain itself.
</p>`;
