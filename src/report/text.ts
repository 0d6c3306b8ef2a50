import { styleText } from 'node:util';
import { escapeCommands } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { withoutApplied, type Report } from '../result.ts';
import { pad, shorten, shortenPair, widthOf, wrap } from './columns.ts';
import { states, wordOf, type ReportRow } from './row.ts';
import { type SubdomainView, type TemplateView, viewOf } from './view.ts';

interface TextOptions {
  readonly color: boolean;
  /** Also lists each template in sync. */
  readonly all?: boolean;
  /** The writes were shown already. */
  readonly withoutApplied?: boolean;
  /** Columns of the terminal, which lines keep to from 40 on. */
  readonly width: number;
}

/** A report in one of its formats; the others are loaded when they are asked for. */
export const renderReport = async (report: Report, format: string, text: TextOptions): Promise<string> => {
  switch (format) {
    case 'json':
      return (await import('../report-schema.ts')).renderJson(report);
    case 'markdown':
      return (await import('./markdown.ts')).renderMarkdown(report);
    case 'html':
      return (await import('./html.ts')).renderHtml(report);
    default:
      return renderText(report, text);
  }
};

/** A line, and the style that it has in a terminal with colours. */
type StyledLine = readonly [text: string, style?: ReportRow['color'] | 'gray' | undefined];

/** The report for a terminal: differences of each template, problems, and a summary line. */
export const renderText = (report: Report, options: TextOptions): string => {
  const { all = false, color } = options;
  const width = Math.max(40, options.width);
  const templates = options.withoutApplied === true ? report.templates.map(withoutApplied) : report.templates;
  const { status, causes, groups, quiet, problems, summary, aside } = viewOf({ ...report, templates });
  const isCounted = !all && status !== 'in-sync' && quiet.length > 0;
  const inSync = `${states['in-sync'][0]} ${quiet.length} of ${plural(templates.length, 'template')} in sync`;
  const blocks: StyledLine[][] = [
    paragraph(causes, 0, width, 'gray'),
    ...groups.map((group) => groupLines(group, width)),
    all ? quiet.flatMap((template) => headingLines(template, width)) : [],
    isCounted ? [[inSync, 'green']] : [],
    problems.flatMap(({ words, severity }) =>
      paragraph(words, 0, width, severity === 'error' ? 'red' : 'yellow'),
    ),
    [...paragraph(summary, 0, width, states[status][2]), ...paragraph(aside, 0, width, 'gray')],
  ];
  const textOf = ([text, style]: StyledLine): string => {
    const line = shorten(escapeCommands(text), width);
    return `${color && style ? styleText(style, line, { validateStream: false }) : line}\n`;
  };
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map(textOf).join(''))
    .join('\n');
};

const groupLines = (group: readonly TemplateView[], width: number): StyledLine[] => {
  const first = group[0]!;
  if (group.length === 1) return [...headingLines(first, width), ...bodyLines(first, 2, width)];
  const [sign, word, color] = states[first.status];
  return [
    ...paragraph(`${sign} ${group.length} templates ${word}: ${first.message}`, 0, width, color),
    ...paragraph(group.map(({ title }) => title).join(', '), 2, width, 'gray'),
  ];
};

const headingLines = ({ title, status, state, file }: TemplateView, width: number): StyledLine[] => {
  const [sign, , color] = states[status];
  const heading = `${sign} ${shorten(title, 2 * width)}: ${state} · ${shorten(file, 2 * width)}`;
  return wrap(heading, width - 2).map((line, at) => [at === 0 ? line : `  ${line}`, color]);
};

/** What differs in a template, below its heading. */
export const bodyLines = (
  { status, message, toDo, rows, subdomains }: TemplateView,
  indent: number,
  width: number,
): StyledLine[] => [
  ...paragraph(message, indent, width, states[status][2]),
  ...paragraph(toDo && `To do: ${toDo}`, indent, width),
  ...rowLines(rows, indent, width),
  ...subdomains.flatMap((subdomain) => subdomainLines(subdomain, indent, width)),
];

const subdomainLines = (view: SubdomainView, indent: number, width: number): StyledLine[] => {
  const { subdomain, status, message, rows, answers } = view;
  const state = `subdomain ${subdomain}: ${wordOf(status)}${message === null ? '' : `. ${message}`}`;
  const lines = [...paragraph(state, indent, width, states[status][2]), ...rowLines(rows, indent + 2, width)];
  if (answers === null) return lines;
  const ofServers = `name servers: ${wordOf(answers.status)}`;
  return [
    ...lines,
    ...paragraph(ofServers, indent + 2, width, states[answers.status][2]),
    ...answers.remarks.flatMap((remark) => paragraph(remark, indent + 4, width)),
    ...rowLines(answers.rows, indent + 4, width),
  ];
};

/** Differences in columns: sign, type, name, values, notes. Notes that do not fit are below their row. */
export const rowLines = (rows: readonly ReportRow[], indent: number, width: number): StyledLine[] => {
  const typeWidth = Math.min(8, largest(rows.map(({ type }) => widthOf(type))));
  const nameWidth = Math.min(Math.floor(width / 4), largest(rows.map(({ name }) => widthOf(name))));
  const start = indent + typeWidth + nameWidth + 5;
  const values = rows.map((row) => valueLines(row, width - start));
  const column = Math.min(
    Math.floor((width - start) / 2),
    largest(values.map((lines) => widthOf(lines.at(-1)!))),
  );
  return rows.flatMap((row, at): StyledLine[] => {
    const [type, name] = [shorten(row.type, typeWidth), shorten(row.name, nameWidth)];
    const head = `${' '.repeat(indent)}${row.sign} ${pad(type, typeWidth)} ${pad(name, nameWidth)}  `;
    const lines = values[at]!.map((line, index) => (index === 0 ? head : ' '.repeat(start)) + line);
    const [last, note] = [lines.pop()!, noteOf(row)];
    const beside = [pad(last, start + column), last]
      .map((line) => `${line}  ${note}`)
      .find((line) => widthOf(line) <= width);
    const style = row.outcome === 'failed' || row.outcome === 'unknown' ? 'red' : row.color;
    return [
      ...[...lines, beside ?? last].map((line) => [line.trimEnd(), style] as const),
      ...(beside ? [] : paragraph(note, indent + 4, width, 'gray')),
      ...paragraph(row.remark, indent + 4, width),
      ...paragraph(row.toDo && `To do: ${row.toDo}`, indent + 4, width),
    ];
  });
};

const largest = (numbers: readonly number[]): number => numbers.reduce((best, one) => Math.max(best, one), 0);

/** As many on a line as there is room for. Of a long change, both sides are cut so that the first difference stays visible. */
const valueLines = ({ values }: ReportRow, room: number): string[] => {
  const lines = [''];
  for (const { label, text, desired } of values) {
    const half = Math.floor((room - label.length - 3) / 2);
    const shown = desired === null ? text : shortenPair(text, desired, half).join(' → ');
    const longer = [lines.at(-1)!, `${label}${shown}`].filter(Boolean).join('  ');
    if (widthOf(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(shorten(`${label}${shown}`, room));
  }
  return lines[0] === '' && lines.length > 1 ? lines.slice(1) : lines;
};

/** The signs of a template's differences are clear; those of a subdomain's need their word. */
const noteOf = ({ kind, word, outcome, why, where }: ReportRow): string => {
  const isClear = ['add', 'update', 'park', 'surplus', 'blocked'].includes(kind);
  return [outcome === null ? [] : wordOf(outcome), isClear ? [] : word, why, where].flat().join(' · ');
};

/** Words, wrapped to at most some ten lines. */
const paragraph = (text: string | null, indent: number, width: number, style?: StyledLine[1]): StyledLine[] =>
  text === null
    ? []
    : wrap(shorten(text, 10 * width), width - indent).map((line) => [' '.repeat(indent) + line, style]);
