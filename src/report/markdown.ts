import { plural } from '../lib/plural.ts';
import type { Report } from '../result.ts';
import { shorten, shortenPair } from './columns.ts';
import { outcomeWords, type ReportRow, type RowValue } from './row.ts';
import {
  isQuiet,
  type ProblemView,
  stateOf,
  statusWords,
  type SubdomainView,
  type TemplateView,
  viewOf,
} from './view.ts';

/** The limit of a GitHub comment. GitLab's is higher. */
const limit = 65_536;

/** The report as a comment on a pull request: one summary line, and a fold for each template that differs. */
export const renderMarkdown = (report: Report): string => {
  const { summary, causes, templates, outages, problems, commits, unmanaged } = viewOf(report);
  const differing = templates.filter((template) => !isQuiet(template) && template.asOf !== null);
  const isShort = differing.reduce((sum, one) => sum + linesIn(one), 0) <= few;
  const head = [
    `### dns-template-sync: ${summary}`,
    causes ?? [],
    commits.slice(0, few).map(({ id, url }) => `commit <a href="${plain(url)}">${code(id)}</a>`),
    unmanaged === null ? [] : prose(unmanaged),
  ].flat();
  const folds = [
    ...(problems.length === 0
      ? []
      : [fold('Problems', problems.length <= fewProblems, problems.map(problemItem).join(''))]),
    ...outages.map(({ message, templates: unread }) =>
      fold(
        `${plural(unread.length, 'template')} not compared`,
        unread.length <= few,
        [`${prose(message)}\n`, ...unread.map((title) => `- ${code(title)}\n`)].join(''),
      ),
    ),
    ...differing.map((template) =>
      fold(
        [code(template.title), `<b>${stateOf(template)}</b>`, template.counts, code(template.file)]
          .filter((part) => part !== '')
          .join(' '),
        isShort,
        templateText(template),
      ),
    ),
  ];
  const beginning = `${head.join('\n\n')}\n`;
  return beginning + fitted(folds, limit - beginning.length);
};

/** So few lines, or problems, that they are shown open. */
const few = 10;
const fewProblems = 2;

const linesIn = ({ rows, subdomains }: TemplateView): number =>
  Math.max(
    1,
    subdomains.reduce((sum, one) => sum + one.rows.length + (one.answers?.rows.length ?? 0), rows.length),
  );

const problemItem = ({ severity, place, message, check }: ProblemView): string =>
  `- **${severity}** ${place === '' ? '' : `${code(place)} `}${prose(message)} ${code(check)}\n`;

/** A collapsible part of a comment. */
const fold = (title: string, isOpen: boolean, text: string) => ({
  title,
  whole: `\n<details${isOpen ? ' open' : ''}><summary>${title}</summary>\n\n${text}\n</details>\n`,
});

/**
 * As many whole folds as there is room for, the shortest first, so that one large template cannot hide the others; then the titles
 * of those that are left out.
 */
const fitted = (folds: readonly ReturnType<typeof fold>[], room: number): string => {
  const shortest = folds.toSorted((one, other) => one.whole.length - other.whole.length);
  const wholeIn = (size: number) => firstOf(shortest, size, ({ whole }) => whole);
  const all = wholeIn(room);
  const shown = new Set(all.length === folds.length ? all : wholeIn(room * (3 / 4)));
  const left = folds.filter((one) => !shown.has(one)).map(({ title }) => `- ${title}\n`);
  const named = firstOf(left, room / 4 - cutNote.length - 40, (line) => line);
  return [
    ...(left.length === 0 ? [] : [cutNote, ...named]),
    left.length > named.length ? `- and ${left.length - named.length} more\n` : '',
    ...folds.filter((one) => shown.has(one)).map(({ whole }) => whole),
  ].join('');
};

/** As many as there is room for. */
const firstOf = <Item>(
  items: readonly Item[],
  room: number,
  textOf: (item: Item) => string,
): readonly Item[] => {
  let used = 0;
  const end = items.findIndex((item) => (used += textOf(item).length) > room);
  return end === -1 ? items : items.slice(0, end);
};

const cutNote =
  '\n**Cut short:** these do not fit into a comment. The json and html formats of the report have everything.\n\n';

const templateText = ({ message, rows, subdomains }: TemplateView): string =>
  [
    message === null ? '' : `${prose(message)}\n`,
    table(rows),
    toDos(rows),
    ...subdomains.map(subdomainText),
  ].join('');

const subdomainText = ({ subdomain, status, message, rows, answers }: SubdomainView): string =>
  [
    `\nSubdomain ${code(subdomain)}: **${statusWords[status]}**${message === null ? '' : ` ${prose(message)}`}\n`,
    table(rows),
    ...(answers === null
      ? []
      : [
          `\nName servers of ${code(subdomain)}: **${statusWords[answers.status]}**\n`,
          ...answers.remarks.map((remark) => `- ${prose(remark)}\n`),
          table(answers.rows),
        ]),
  ].join('');

const table = (rows: readonly ReportRow[]): string =>
  rows.length === 0
    ? ''
    : `\n| | type | name | record | why and where |\n|---|---|---|---|---|\n${rows.map(tableRow).join('')}`;

const tableRow = (row: ReportRow): string => {
  const notes = [...row.why, ...row.where].join(' · ');
  const why = [
    row.outcome === null ? [] : `<b>${outcomeWords[row.outcome]}</b>`,
    notes === '' ? [] : code(notes),
    row.remarks.map(prose),
  ].flat();
  const cells = [
    `${plain(row.sign)}&nbsp;${row.word}`,
    code(row.type),
    code(row.name),
    row.values.map(valueText).join('<br>'),
    why.join('<br>'),
  ];
  return `| ${cells.join(' | ')} |\n`;
};

const valueText = (value: RowValue): string => {
  const { label } = value;
  if (!value.isChanged) return label === '' ? code(value.text) : plain(`${label}${value.text}`);
  const [from, to] = shortenPair(value.actual, value.desired, maxContent);
  return `${label}${code(from)} → ${code(to)}`;
};

/** Each once, below the table. What is in backquotes is to be copied. */
const toDos = (rows: readonly ReportRow[]): string => {
  const all = [...new Set(rows.flatMap(({ toDo }) => toDo?.shared ?? []))];
  const items = all.map((text) =>
    text.split('`').map((part, index) => (index % 2 === 0 ? plain(part) : inCode(part))),
  );
  return items.map((parts, index) => `${index === 0 ? '\nTo do:\n\n' : ''}- ${parts.join('')}\n`).join('');
};

/** Columns of foreign text in a comment. */
const maxContent = 72;
const maxProse = 600;

/**
 * Foreign text. GitHub links user names, issues and commits in all text but code, and Markdown has special
 * characters in all text. So it is code, with special characters as entities.
 */
const code = (text: string): string => inCode(shorten(text, maxContent));

const prose = (text: string): string => inCode(shorten(text, maxProse));

/** Without `dir`, right-to-left letters would change the order of the text beside them. */
const inCode = (text: string): string =>
  `<code${rightToLeft.test(text) ? ' dir="ltr"' : ''}>${plain(text)}</code>`;

const plain = (text: string): string =>
  text.replaceAll(special, (character) => `&#${character.codePointAt(0)};`);

/**
 * Everything but letters, digits and characters without meaning in Markdown or HTML; and the dot that makes
 * `www.` a link.
 */
const special = /[^\p{L}\p{M}\p{N} .,;=+-]|(?<=www)\./giu;

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
