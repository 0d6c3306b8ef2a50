import { styleText } from 'node:util';
import { escapeCommands } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { withoutApplied, type Report } from '../result.ts';
import { pad, shorten, shortenPair, widthOf, wrap } from './columns.ts';
import { states, wordOf, type ReportRow } from './row.ts';
import { stateText, viewOf, type Section } from './view.ts';

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
  const { status, causes, sections, calm, problems, summary, aside } = viewOf({ ...report, templates });
  const isCounted = !all && status !== 'in-sync' && calm.length > 0;
  const inSync = `${states['in-sync'][0]} ${calm.length} of ${plural(templates.length, 'template')} in sync`;
  const blocks: StyledLine[][] = [
    paragraph(causes, 0, width, 'gray'),
    ...sections.map((section) => sectionLines(section, 0, width)),
    all ? calm.flatMap((section) => sectionLines(section, 0, width)) : [],
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

const sectionLines = (section: Section, indent: number, width: number): StyledLine[] => {
  const { title, state, file } = section;
  const place = file === undefined ? '' : ` · ${shorten(file, 2 * width)}`;
  const heading = `${states[state][0]} ${shorten(title, 2 * width)}: ${stateText(section)}${place}`;
  const [first = '', ...others] = wrap(heading, width - indent - 2);
  return [first, ...others.map((line) => `  ${line}`)]
    .map((line): StyledLine => [' '.repeat(indent) + line, states[state][2]])
    .concat(bodyLines(section, indent + 2, width));
};

/** What a section says below its heading. */
export const bodyLines = (section: Section, indent: number, width: number): StyledLine[] => {
  const { said, names = [], rows = [], parts = [] } = section;
  return [
    ...said.flatMap((text) => paragraph(text, indent, width)),
    ...paragraph(names.map(({ title }) => title).join(', '), indent, width, 'gray'),
    ...rowLines(rows, indent, width),
    ...parts.flatMap((part) => sectionLines(part, indent, width)),
  ];
};

/** Differences in columns: sign, type, name, values, facts. Facts that do not fit are below their row. */
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
    const [last, facts] = [lines.pop()!, factsOf(row)];
    const beside = [pad(last, start + column), last]
      .map((line) => `${line}  ${facts}`)
      .find((line) => widthOf(line) <= width);
    const style = row.outcome === 'failed' || row.outcome === 'unknown' ? 'red' : row.color;
    return [
      ...[...lines, beside ?? last].map((line) => [line.trimEnd(), style] as const),
      ...(beside ? [] : paragraph(facts, indent + 4, width, 'gray')),
      ...row.notes.flatMap((note) => paragraph(note, indent + 4, width)),
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
const factsOf = ({ kind, word, outcome, why, where }: ReportRow): string => {
  const isClear = ['add', 'update', 'park', 'surplus', 'blocked'].includes(kind);
  return [outcome === null ? [] : wordOf(outcome), isClear ? [] : word, why, where].flat().join(' · ');
};

/** Words, wrapped to at most some ten lines; null and empty: nothing. */
const paragraph = (text: string | null, indent: number, width: number, style?: StyledLine[1]): StyledLine[] =>
  text === null || text === ''
    ? []
    : wrap(shorten(text, 10 * width), width - indent).map((line) => [' '.repeat(indent) + line, style]);
