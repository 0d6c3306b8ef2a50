import { plural } from '../lib/plural.ts';
import { shorten, shortenPair } from './columns.ts';
import { fitted, type Fold } from './fold.ts';
import type { Report } from './report.ts';
import { worstFirst } from './worst-first.ts';
import { outcomeWords, type ReportRow } from './row.ts';
import {
  type CommitView,
  isQuiet,
  isUnknown,
  type OutageView,
  type ProblemView,
  statusWords,
  type SubdomainView,
  type TemplateView,
  viewOf,
} from './view.ts';

/** The limit of a GitHub comment. GitLab's is higher. */
const limit = 65_536;

/** The report as a comment on a pull request: one summary line, and a fold for each template that differs. */
export const renderMarkdown = (report: Report): string => {
  const { summary, templates, outages, problems, commits, unmanaged, causes } = viewOf({
    ...report,
    templates: worstFirst(report.templates),
  });
  const differing = templates.filter((template) => !isQuiet(template) && !isUnknown(template));
  const isOpen = differing.reduce((sum, one) => sum + linesIn(one), 0) <= few;
  const folds: Fold[] = [
    ...(problems.length === 0 ? [] : [problemFold(problems)]),
    ...outages.map(outageFold),
    ...differing.map((template) => templateFold(template, isOpen)),
  ];
  const lines = [
    ...(causes === null ? [] : [causes]),
    ...commits.slice(0, few).map(commitLine),
    ...(unmanaged === null ? [] : [prose(unmanaged)]),
  ];
  const head = `### dns-template-sync: ${[summary, ...lines].join('\n\n')}\n`;
  const names = differing.map(({ title }) => code(title));
  return head + fitted(folds, names, limit - head.length);
};

/** So few lines, or problems, that they are shown open. */
const few = 10;
const fewProblems = 2;

const linesIn = ({ rows, subdomains }: TemplateView): number =>
  Math.max(
    1,
    subdomains.reduce((sum, one) => sum + one.rows.length + (one.answers?.rows.length ?? 0), rows.length),
  );

const commitLine = ({ id, url }: CommitView): string => `commit <a href="${plain(url)}">${code(id)}</a>`;

const problemFold = (problems: readonly ProblemView[]): Fold => ({
  title: 'Problems',
  isOpen: problems.length <= fewProblems,
  parts: problems.map(
    ({ severity, place, message, check }) =>
      `- **${severity}** ${place === '' ? '' : `${code(place)} `}${prose(message)} ${code(check)}\n`,
  ),
});

const outageFold = ({ message, templates }: OutageView): Fold => ({
  title: `${plural(templates.length, 'template')} not compared`,
  isOpen: templates.length <= few,
  parts: [`${prose(message)}\n`, ...templates.map((title) => `- ${code(title)}\n`)],
});

const templateFold = (template: TemplateView, isOpen: boolean): Fold => ({
  isOpen,
  title: [
    code(template.title),
    `<b>${template.status === 'drifted' && template.differs !== '' ? template.differs : statusWords[template.status]}</b>`,
    ...(template.status === 'drifted' ? [] : [template.differs]),
    template.counts,
    code(template.file),
  ].join(' '),
  parts: [
    ...(template.message === null ? [] : [`${prose(template.message)}\n`]),
    ...table(template.rows),
    ...toDos(template.rows),
    ...template.subdomains.flatMap(subdomainParts),
  ],
});

const subdomainParts = ({ subdomain, status, message, rows, answers }: SubdomainView): string[] => [
  `\nSubdomain ${code(subdomain)}: **${statusWords[status]}**${message === null ? '' : ` ${prose(message)}`}\n`,
  ...table(rows),
  ...(answers === null
    ? []
    : [
        `\nName servers of ${code(subdomain)}: **${statusWords[answers.status]}**\n`,
        ...answers.remarks.map((remark) => `- ${prose(remark)}\n`),
        ...table(answers.rows),
      ]),
];

const table = (rows: readonly ReportRow[]): string[] =>
  rows.length === 0
    ? []
    : ['\n| | type | name | record | why and where |\n|---|---|---|---|---|\n', ...rows.map(tableRow)];

const tableRow = (row: ReportRow): string => {
  const record = [
    ...(row.content === null ? [] : [code(row.content)]),
    ...row.changes.map(changeOf),
    ...row.facts.map(plain),
  ];
  const why = [
    ...(row.outcome === null ? [] : [`<b>${outcomeWords[row.outcome]}</b>`]),
    ...(row.why.length + row.where.length === 0 ? [] : [code([...row.why, ...row.where].join(' · '))]),
    ...row.remarks.map(prose),
  ];
  const cells = [
    `${plain(row.symbol)}&nbsp;${row.word}`,
    code(row.type),
    code(row.name),
    record.join('<br>'),
    why.join('<br>'),
  ];
  return `| ${cells.join(' | ')} |\n`;
};

/** Each once, below the table. */
const toDos = (rows: readonly ReportRow[]): string[] => {
  const all = [...new Set(rows.flatMap(({ toDo }) => toDo?.shared ?? []))];
  return all.map((text, index) => `${index === 0 ? '\nTo do:\n\n' : ''}- ${prose(text)}\n`);
};

const changeOf = ({ field, from, to }: ReportRow['changes'][number]): string => {
  const [before, after] = shortenPair(from, to, maxContent);
  return `${field === 'content' ? '' : `${field} `}${code(before)} → ${code(after)}`;
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
