import { plural } from '../lib/plural.ts';
import { shorten } from './columns.ts';
import type { AnswersView } from './answers-view.ts';
import { withoutApplied } from '../result.ts';
import { worstFirst } from './worst-first.ts';
import type { Report } from './report.ts';
import { blank, join, type TerminalLine, lineWidth, paint, paragraph } from './terminal.ts';
import { rowLines } from './text-row.ts';
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

export interface TextOptions {
  readonly color: boolean;
  /** Also lists each template in sync. */
  readonly all?: boolean;
  /** The writes were shown already. */
  readonly withoutApplied?: boolean;
  /** Columns of the terminal, which lines keep to from 40 on. */
  readonly width: number;
}

/** The report for a terminal: differences of each template, problems, and a summary line. */
export const renderText = (report: Report, options: TextOptions): string => {
  const { color, width, all = false } = options;
  const shownPart = options.withoutApplied === true ? report.templates.map(withoutApplied) : report.templates;
  const view = viewOf({ ...report, templates: worstFirst(shownPart) });
  const columns = Math.max(40, width);
  const shown = view.templates.filter((one) => !isUnknown(one) && (all || !isQuiet(one)));
  const quiet = all ? 0 : view.templates.filter(isQuiet).length;
  const lines = [
    ...(view.causes === null ? [] : paragraph(view.causes, 0, columns, 'gray')),
    ...shown.flatMap((template) => templateLines(template, columns)),
    blank,
    ...view.outages.flatMap((outage) => outageLines(outage, columns)),
    blank,
    ...(quiet > 0 && view.status !== 'in-sync' ? [quietLine(quiet, view.templates.length)] : []),
    blank,
    ...view.problems.flatMap((problem) => problemLines(problem, columns)),
    blank,
    ...view.commits.flatMap((commit) => paragraph(commitLine(commit), 0, columns, 'gray')),
    ...paragraph(view.summary, 0, columns, statusStyles[view.status]),
    ...(view.unmanaged === null ? [] : paragraph(view.unmanaged, 0, columns, 'gray')),
  ];
  return paint(lines.filter(isNeeded), color);
};

/** One blank line between two blocks, none at the start. */
const isNeeded = (line: TerminalLine, index: number, lines: readonly TerminalLine[]): boolean =>
  line !== blank || (index > 0 && lines[index - 1] !== blank);

const statusStyles = {
  'in-sync': 'green',
  pending: 'cyan',
  drifted: 'yellow',
  suspended: 'cyan',
  held: 'magenta',
  failed: 'red',
} as const;

const statusSymbols = { 'in-sync': '✓', drifted: '≠', suspended: '⊘', held: '‖', failed: '✗' } as const;

const templateLines = (template: TemplateView, width: number): TerminalLine[] => {
  const { message, status, rows, subdomains } = template;
  const below = [
    ...(message === null ? [] : paragraph(message, 2, width, statusStyles[status])),
    ...rowLines(rows, 2, width),
    ...subdomains.flatMap((subdomain) => subdomainLines(subdomain, width)),
  ];
  const heading = headingLines(template, width);
  return isQuiet(template) ? heading : [blank, ...heading, ...below, blank];
};

const commitLine = ({ id, url }: CommitView): string => `commit ${id} ${url}`;

const outageLines = ({ message, templates }: OutageView, width: number): TerminalLine[] => [
  ...paragraph(
    `${statusSymbols.failed} ${plural(templates.length, 'template')} not compared: ${message}`,
    0,
    width,
    statusStyles.failed,
  ),
  ...paragraph(templates.join(', '), 2, width, 'gray'),
];

const quietLine = (count: number, templates: number): TerminalLine => [
  {
    text: `${statusSymbols['in-sync']} ${count} of ${plural(templates, 'template')} in sync`,
    style: statusStyles['in-sync'],
  },
];

const headingLines = (
  { title, status, differs, counts, file }: TemplateView,
  width: number,
): TerminalLine[] => {
  const name: TerminalLine = [
    { text: `${statusSymbols[status]} ${shorten(title, width - 2)}`, style: 'bold' },
  ];
  // That a template differs is what its counts say.
  const word = status === 'drifted' && differs !== '' ? '' : `${statusWords[status]}: `;
  const found = `${word}${[differs, counts].filter((part) => part !== '').join(', ')}`.replace(/: $/, '');
  const style = statusStyles[status];
  const oneLine = join([name, [{ text: found, style }], [{ text: file, style: 'gray' }]], '  ');
  if (lineWidth(oneLine) <= width) return [oneLine];
  const withFile = join([name, [{ text: file, style: 'gray' }]], '  ');
  const place: TerminalLine = [{ text: `  ${shorten(file, width - 2)}`, style: 'gray' }];
  return [
    ...(lineWidth(withFile) <= width ? [withFile] : [name, place]),
    ...paragraph(found, 2, width, style),
  ];
};

const subdomainLines = (
  { subdomain, status, message, rows, answers }: SubdomainView,
  width: number,
): TerminalLine[] => {
  const words = `subdomain ${subdomain}: ${statusWords[status]}${message === null ? '' : `. ${message}`}`;
  return [
    ...paragraph(words, 2, width, statusStyles[status]),
    ...rowLines(rows, 4, width),
    ...(answers === null ? [] : answersLines(answers, width)),
  ];
};

const answersLines = ({ status, remarks, rows }: AnswersView, width: number): TerminalLine[] => [
  ...paragraph(`name servers: ${statusWords[status]}`, 4, width, statusStyles[status]),
  ...remarks.flatMap((remark) => paragraph(remark, 6, width)),
  ...rowLines(rows, 6, width),
];

const problemLines = ({ severity, place, message, check }: ProblemView, width: number): TerminalLine[] =>
  paragraph(
    `${place === '' ? '' : `${place}: `}${severity}: ${message} [${check}]`,
    0,
    width,
    severity === 'error' ? 'red' : 'yellow',
  );
