import { plural } from '../lib/plural.ts';
import { style } from './html-style.ts';
import { html, linked, Markup, type MarkupValue, stateIcon, withCode, withMoments } from './markup.ts';
import type { Report } from '../result.ts';
import { outcomeWords, type ReportRow } from './row.ts';
import { statusWords, type SubdomainView, type TemplateView, viewOf, type problemView } from './view.ts';

/** The report as one self-contained page: no script, font or image. */
export const renderHtml = (report: Report): string => {
  const { status, summary, causes, groups, quiet, problems, aside } = viewOf(report);
  const { run, trigger, startedAt, durationMs, dryRun } = report;
  const main = html`<section class="now ${status}">
      ${stateIcon(status)}
      <p class="summary">${summary}</p>
      ${
        run !== '' &&
        html`<p class="aside meta">
          Started by ${trigger} at ${startedAt}, took ${durationMs} ms. ${dryRun && 'Nothing was written.'}
        </p>`
      }
    </section>
    ${problemSection(problems)} ${causes !== null && html`<p class="aside">${causes}</p>`}
    ${differenceSection(
      groups.map((group) => ({
        shown: group.map((one) => ({ ...one, href: null })),
        count: group.length,
      })),
    )}
    ${quiet.length > 0 && html`<p>${stateIcon('in-sync')} ${plural(quiet.length, 'template')}</p>`}
    ${aside !== null && html`<p class="aside">${aside}</p>`}`;
  const page = htmlDocument({
    title: `${statusWords[status]}: dns-template-sync`,
    head: html`<meta
      http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'"
    />`,
    style,
    body: html`<header><h1>dns-template-sync</h1></header>
      <main>${main}</main>
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

/** `all`: how many there are. */
export const problemSection = (
  problems: readonly ReturnType<typeof problemView>[],
  all = problems.length,
  after: MarkupValue = null,
): MarkupValue =>
  problems.length > 0 &&
  html`<section aria-labelledby="problems">
    <h2 id="problems">${plural(all, 'problem')} in template files</h2>
    <ul class="list">
      ${problems.map(
        ({ severity, place, message, check }) =>
          html`<li>
            <b class="${severity}">${severity}</b> ${place !== '' && html`<code>${place}</code>`} ${message}
            <code class="aside">${check}</code>
          </li>`,
      )}
    </ul>
    ${after}
  </section>`;

/** Templates that differ; of those with the same message and nothing else, some of `count`. */
interface ShownGroup {
  /** `href`: the address of its own page; null if there is none. */
  readonly shown: readonly (TemplateView & { readonly href: string | null })[];
  readonly count: number;
  readonly after?: MarkupValue;
}

/** What differs, with the record at the service and in the file side by side. */
export const differenceSection = (groups: readonly ShownGroup[], after: MarkupValue = null): MarkupValue =>
  groups.length > 0 &&
  html`<section aria-labelledby="differences">
    <h2 id="differences" class="unseen">What differs</h2>
    <p class="aside"><del>at the service</del> → <ins>in the file</ins></p>
    ${groups.map(article)} ${after}
  </section>`;

const article = ({ shown, count, after }: ShownGroup): Markup => {
  const { title, href, status, counts, message, rows, subdomains, file, commitUrl } = shown[0]!;
  const said = message !== null && html`<p class="message">${message}</p>`;
  if (count > 1)
    return html`<article>
      <header><h3>${count} templates ${stateIcon(status)}</h3></header>
      ${said}
      <p class="names">${shown.map((one) => html`<span>${linked(one.title, one.href)}</span>`)}</p>
      ${count > shown.length && html`<p class="rest">and ${count - shown.length} more</p>`}
    </article>`;
  return html`<article>
    <header>
      <h3>${linked(title, href)} ${stateIcon(status)}</h3>
      <p class="aside">${counts !== '' && `${counts} · `}${linked(file, commitUrl)}</p>
    </header>
    ${said} ${rowList(rows)} ${subdomains.map(subdomainPart)} ${after}
  </article>`;
};

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
      const { kind, sign, word, type, name, outcome, why, where, remark, toDo } = row;
      return html`<li class="row ${kind}">
        <span class="sign"><span aria-hidden="true">${sign}</span> ${word}</span>
        <code class="type">${type}</code> <code class="name">${name}</code>
        <span class="sides">${sidesOf(row)}</span>
        <span class="cause"
          >${outcome !== null && html`<b class="${outcome}">${outcomeWords[outcome]}</b>`}
          ${why.join(' · ')}</span
        >
        ${where.length > 0 && html`<p class="aside">${where.join(' · ')}</p>`}
        ${remark !== null && html`<p>${remark}</p>`}
        ${toDo !== null && html`<p class="todo">To do: ${withCode(toDo.own())}</p>`}
      </li>`;
    })}
  </ul>`;

/** The record, or its changes. */
const sidesOf = ({ values, only }: ReportRow): Markup => {
  const same = values.filter(({ desired }) => desired === null);
  const record = same.flatMap(({ label, text }) => (label === '' ? html`<code>${text}</code>` : []));
  const facts = same.flatMap(({ label, text }) => (label === '' ? [] : `${label}${text}`));
  const rest = facts.length > 0 && html`<span class="aside">${facts.join(', ')}</span>`;
  if (only === 'desired') return html`<i>nothing</i> → <ins>${record}</ins> ${rest}`;
  if (only === 'actual') return html`<del>${record}</del> ${rest} → <i>nothing</i>`;
  const changes = values.flatMap(({ label, text, desired }) => {
    if (desired === null) return [];
    const [from, to] = marked(text, desired);
    return html`<span
      >${label}<del><code>${from}</code></del> → <ins><code>${to}</code></ins></span
    >`;
  });
  return html`${record} <span class="changes">${changes}</span> ${rest}`;
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
    const rest = letters.length - end;
    const part = (first: number, last?: number): string => letters.slice(first, last).join('');
    if (!isMarked || start === rest) return html`${part(0)}`;
    return html`${part(0, start)}<mark>${part(start, rest)}</mark>${part(rest)}`;
  };
  return [side(from), side(to)];
};

/** The terms of the report, for new readers. */
export const legend = html`<p>
  <b>edited</b>: the file changed. <b>drifted</b>: the service changed. <b>surplus</b>: a record that the file
  does not list; the service cannot delete one. <b>unlisted, duplicate</b>: not in the file; a copy of a
  record in use. <b>park</b>: a surplus record gets an unused name and inert content. <b>blocked</b>: not
  written until somebody removes the obstacle. <b>skipped</b>: held back by a mode or a limit. <b>@</b>: the
  subdomain itself.
</p>`;
