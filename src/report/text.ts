import { styleText } from 'node:util';
import { escapeCommands } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { withoutApplied, type Report } from '../result.ts';
import { pad, shorten, shortenPair, widthOf, wrap } from './columns.ts';
import { outcomeWords, type ReportRow, type RowValue } from './row.ts';
import { statusWords, type SubdomainView, type TemplateView, viewOf } from './view.ts';

export interface TextOptions {
  readonly color: boolean;
  /** Also lists each template in sync. */
  readonly all?: boolean;
  /** The writes were shown already. */
  readonly withoutApplied?: boolean;
  /** Columns of the terminal, which lines keep to from 40 on. */
  readonly width: number;
}

/** A line, and the style that it has in a terminal with colours. */
type Line = readonly [text: string, style?: Style | undefined];
type Style = 'gray' | 'red' | 'green' | 'yellow' | 'magenta' | 'cyan';

/** The report for a terminal: differences of each template, problems, and a summary line. */
export const renderText = (report: Report, options: TextOptions): string => {
  const { all = false, color } = options;
  const width = Math.max(40, options.width);
  const templates = options.withoutApplied === true ? report.templates.map(withoutApplied) : report.templates;
  const view = viewOf({ ...report, templates });
  const { status, quiet, problems } = view;
  const inSync = `${signs['in-sync']} ${quiet.length} of ${plural(templates.length, 'template')} in sync`;
  const lines: Line[] = [
    ...paragraph(view.causes, 0, width, 'gray'),
    ...view.groups.flatMap((group) => [[''] as const, ...groupLines(group, width), [''] as const]),
    ...(all ? quiet.flatMap((template) => headingLines(template, width)) : []),
    [''],
    ...(all || status === 'in-sync' || quiet.length === 0 ? [] : [[inSync, 'green'] as const]),
    [''],
    ...problems.flatMap(({ words, severity }) =>
      paragraph(words, 0, width, severity === 'error' ? 'red' : 'yellow'),
    ),
    [''],
    ...view.commits.flatMap(({ id, url }) => paragraph(`commit ${id} ${url}`, 0, width, 'gray')),
    ...paragraph(view.summary, 0, width, colors[status]),
    ...paragraph(view.aside, 0, width, 'gray'),
  ];
  // One blank line between two blocks, none at the start.
  return lines
    .filter(([text], index) => text !== '' || (index > 0 && lines[index - 1]![0] !== ''))
    .map(([text, style]) => {
      const line = shorten(escapeCommands(text), width);
      return `${color && style ? styleText(style, line, { validateStream: false }) : line}\n`;
    })
    .join('');
};

const groupLines = (group: readonly TemplateView[], width: number): Line[] => {
  const first = group[0]!;
  if (group.length === 1) return [...headingLines(first, width), ...bodyLines(first, 2, width)];
  const words = `${signs[first.status]} ${group.length} templates ${first.word}: ${first.message}`;
  return [
    ...paragraph(words, 0, width, colors[first.status]),
    ...paragraph(group.map(({ title }) => title).join(', '), 2, width, 'gray'),
  ];
};

const headingLines = ({ title, status, state, file }: TemplateView, width: number): Line[] => {
  const style = colors[status];
  const [name, place] = [`${signs[status]} ${shorten(title, width - 2)}`, shorten(file, width - 2)];
  const [whole, start] = [`${name}  ${state}  ${place}`, `${name}  ${place}`];
  if (widthOf(whole) <= width) return [[whole, style]];
  const lines = widthOf(start) <= width ? [start] : [name, `  ${place}`];
  return [...lines.map((line) => [line, style] as const), ...paragraph(state, 2, width, style)];
};

/** What differs in a template, below its heading. */
export const bodyLines = (
  { status, message, rows, subdomains }: TemplateView,
  indent: number,
  width: number,
): Line[] => [
  ...paragraph(message, indent, width, colors[status]),
  ...rowLines(rows, indent, width),
  ...subdomains.flatMap((subdomain) => subdomainLines(subdomain, indent, width)),
];

const subdomainLines = (view: SubdomainView, indent: number, width: number): Line[] => {
  const { subdomain, status, message, rows, answers } = view;
  const state = `subdomain ${subdomain}: ${statusWords[status]}${message === null ? '' : `. ${message}`}`;
  const lines = [...paragraph(state, indent, width, colors[status]), ...rowLines(rows, indent + 2, width)];
  if (answers === null) return lines;
  return [
    ...lines,
    ...paragraph(`name servers: ${statusWords[answers.status]}`, indent + 2, width, colors[answers.status]),
    ...answers.remarks.flatMap((remark) => paragraph(remark, indent + 4, width)),
    ...rowLines(answers.rows, indent + 4, width),
  ];
};

/**
 * Differences in columns: sign, type, name, values, notes. Notes that do not fit are below their row; a remark of several rows
 * is shown once, below the last of them.
 */
const rowLines = (rows: readonly ReportRow[], indent: number, width: number): Line[] => {
  const typeWidth = Math.min(8, largest(rows.map(({ type }) => widthOf(type))));
  const nameWidth = Math.min(Math.floor(width / 4), largest(rows.map(({ name }) => widthOf(name))));
  const start = indent + 2 + typeWidth + 1 + nameWidth + 2;
  const room = width - start;
  const cells = rows.map((row) => {
    const [first = '', ...more] = row.values.reduce<readonly string[]>(withValue(room), []);
    const [note, own] = [noteOf(row), more.length > 0 ? Infinity : widthOf(first)];
    const remarks = [...row.remarks, ...(row.toDo === null ? [] : [`To do: ${row.toDo.shared}`])];
    return { row, first, more, note, own, isBeside: own + 2 + widthOf(note) <= room, remarks };
  });
  const widest = largest(cells.map(({ isBeside, note }) => (isBeside ? widthOf(note) : 0)));
  const column = largest(cells.map(({ own }) => own).filter((own) => own + 2 + widest <= room));
  const lastOf = new Map(cells.flatMap((cell) => cell.remarks.map((remark) => [remark, cell])));
  return cells.flatMap((cell): Line[] => {
    const { row, first, more, note, own, isBeside } = cell;
    const [type, name] = [shorten(row.type, typeWidth), shorten(row.name, nameWidth)];
    const head = `${' '.repeat(indent)}${row.sign} ${pad(type, typeWidth)} ${pad(name, nameWidth)}  ${first}`;
    const beside = isBeside ? ' '.repeat(Math.max(column - own, 0) + 2) + note : '';
    const style = row.outcome === 'failed' || row.outcome === 'unknown' ? 'red' : row.color;
    return [
      [`${head}${beside}`.trimEnd(), style],
      ...more.map((line) => [' '.repeat(start) + line, style] as const),
      ...(isBeside ? [] : paragraph(note, indent + 4, width, 'gray')),
      ...cell.remarks
        .filter((remark) => lastOf.get(remark) === cell)
        .flatMap((remark) => paragraph(remark, indent + 4, width)),
    ];
  });
};

const largest = (numbers: readonly number[]): number => numbers.reduce((best, one) => Math.max(best, one), 0);

/** Adds a value to the last line if there is room. Both sides of a long change stand below each other. */
const withValue =
  (room: number) =>
  (lines: readonly string[], value: RowValue): readonly string[] => {
    const { label } = value;
    const text = `${label}${value.isChanged ? `${value.actual} → ${value.desired}` : value.text}`;
    const longer = [lines.at(-1) ?? [], text].flat().join('  ');
    if (widthOf(longer) <= room) return [...lines.slice(0, -1), longer];
    if (widthOf(text) <= room || !value.isChanged) return [...lines, shorten(text, room)];
    const [from, to] = shortenPair(value.actual, value.desired, room - label.length - 2);
    return [...lines, `${label}  ${from}`, `${' '.repeat(label.length)}→ ${to}`];
  };

/** The signs of a template's differences are clear; those of a subdomain's need their word. */
const noteOf = ({ kind, word, outcome, why, where }: ReportRow): string => {
  const isClear = ['add', 'update', 'park', 'surplus', 'blocked'].includes(kind);
  return [outcome === null ? [] : outcomeWords[outcome], isClear ? [] : word, why, where].flat().join(' · ');
};

/** Words, wrapped to at most some ten lines. */
const paragraph = (text: string | null, indent: number, width: number, style?: Style): Line[] =>
  text === null
    ? []
    : wrap(shorten(text, 10 * width), width - indent).map((line) => [' '.repeat(indent) + line, style]);

const signs = { 'in-sync': '✓', drifted: '≠', suspended: '⊘', held: '‖', failed: '✗' } as const;

const colors = {
  'in-sync': 'green',
  pending: 'cyan',
  drifted: 'yellow',
  suspended: 'cyan',
  held: 'magenta',
  failed: 'red',
} as const;
