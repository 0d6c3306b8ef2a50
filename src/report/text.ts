import { stripVTControlCharacters, styleText } from 'node:util';
import { plural } from '../lib/plural.ts';
import { withoutApplied, type Report } from '../result.ts';
import { pad, shorten, shortenPair, widthOf, wrap } from './columns.ts';
import { outcomeWords, type ReportRow, type RowValue } from './row.ts';
import { isQuiet, stateOf, statusWords, type SubdomainView, type TemplateView, viewOf } from './view.ts';

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
  const { all = false } = options;
  const width = Math.max(40, options.width);
  const templates = options.withoutApplied === true ? report.templates.map(withoutApplied) : report.templates;
  const view = viewOf({ ...report, templates });
  const say = (text: string | null, style: Style, indent = 0): string[] =>
    paragraph(text, indent, width, style);
  const shown = view.templates.filter((one) => one.asOf !== null && (all || !isQuiet(one)));
  const quiet = all || view.status === 'in-sync' ? 0 : view.templates.filter(isQuiet).length;
  const quietLine = `${signs['in-sync']} ${quiet} of ${plural(view.templates.length, 'template')} in sync`;
  const lines = [
    ...say(view.causes, 'gray'),
    ...shown.flatMap((template) => templateLines(template, width)),
    '',
    ...view.outages.flatMap(({ message, templates: unread }) => [
      ...say(`${signs.failed} ${plural(unread.length, 'template')} not compared: ${message}`, 'red'),
      ...say(unread.join(', '), 'gray', 2),
    ]),
    '',
    ...(quiet > 0 ? [styled(quietLine, 'green')] : []),
    '',
    ...view.problems.flatMap(({ severity, place, message, check }) =>
      say(
        `${place === '' ? '' : `${place}: `}${severity}: ${message} [${check}]`,
        severity === 'error' ? 'red' : 'yellow',
      ),
    ),
    '',
    ...view.commits.flatMap(({ id, url }) => say(`commit ${id} ${url}`, 'gray')),
    ...say(view.summary, colors[view.status]),
    ...say(view.unmanaged, 'gray'),
  ];
  // One blank line between two blocks, none at the start.
  const text = lines
    .filter((line, index) => line !== '' || (index > 0 && lines[index - 1] !== ''))
    .map((line) => `${line}\n`)
    .join('');
  return options.color ? text : stripVTControlCharacters(text);
};

const templateLines = (template: TemplateView, width: number): string[] => {
  const { message, status, rows, subdomains } = template;
  const heading = headingLines(template, width);
  if (isQuiet(template)) return heading;
  return [
    '',
    ...heading,
    ...paragraph(message, 2, width, colors[status]),
    ...rowLines(rows, 2, width),
    ...subdomains.flatMap((subdomain) => subdomainLines(subdomain, width)),
    '',
  ];
};

const headingLines = (template: TemplateView, width: number): string[] => {
  const { title, status, differs, counts, file } = template;
  const state = `${stateOf(template)}${counts === '' ? '' : `${differs === '' ? ': ' : ', '}${counts}`}`;
  const name = styled(`${signs[status]} ${shorten(title, width - 2)}`, 'bold');
  const [found, place] = [styled(state, colors[status]), styled(shorten(file, width - 2), 'gray')];
  const [oneLine, two] = [`${name}  ${found}  ${place}`, `${name}  ${place}`];
  if (shownWidth(oneLine) <= width) return [oneLine];
  return [
    ...(shownWidth(two) <= width ? [two] : [name, `  ${place}`]),
    ...paragraph(state, 2, width, colors[status]),
  ];
};

const subdomainLines = (view: SubdomainView, width: number): string[] => {
  const { subdomain, status, message, rows, answers } = view;
  const state = `subdomain ${subdomain}: ${statusWords[status]}${message === null ? '' : `. ${message}`}`;
  const lines = [...paragraph(state, 2, width, colors[status]), ...rowLines(rows, 4, width)];
  if (answers === null) return lines;
  return [
    ...lines,
    ...paragraph(`name servers: ${statusWords[answers.status]}`, 4, width, colors[answers.status]),
    ...answers.remarks.flatMap((remark) => paragraph(remark, 6, width)),
    ...rowLines(answers.rows, 6, width),
  ];
};

/**
 * Differences in columns: sign, type, name, values, notes. Notes that do not fit are below their row; a remark of several rows
 * is shown once, below the last of them.
 */
const rowLines = (rows: readonly ReportRow[], indent: number, width: number): string[] => {
  const typeWidth = Math.min(8, largest(rows.map(({ type }) => widthOf(type))));
  const nameWidth = Math.min(Math.floor(width / 4), largest(rows.map(({ name }) => widthOf(name))));
  const start = indent + 2 + typeWidth + 1 + nameWidth + 2;
  const room = width - start;
  const cells = rows.map((row) => {
    const [first = '', ...more] = valueLines(row.values, room);
    const [note, own] = [noteOf(row), more.length > 0 ? Infinity : shownWidth(first)];
    const noteWidth = shownWidth(note);
    const remarks = [...row.remarks, ...(row.toDo === null ? [] : [`To do: ${row.toDo.shared}`])];
    return { row, first, more, note, own, noteWidth, isBeside: own + 2 + noteWidth <= room, remarks };
  });
  const widest = largest(cells.filter(({ isBeside }) => isBeside).map(({ noteWidth }) => noteWidth));
  const column = largest(cells.map(({ own }) => own).filter((own) => own + 2 + widest <= room));
  const lastOf = new Map(cells.flatMap((cell) => cell.remarks.map((remark) => [remark, cell])));

  return cells.flatMap((cell) => {
    const { row, first, more, note, own, isBeside, remarks } = cell;
    const head = [
      styled(`${row.sign} `, rowColors[row.kind]),
      `${pad(shorten(row.type, typeWidth), typeWidth)} `,
      styled(`${pad(shorten(row.name, nameWidth), nameWidth)}  `, 'bold'),
    ].join('');
    const beside = isBeside ? ' '.repeat(Math.max(column - own, 0) + 2) + note : '';
    return [
      `${' '.repeat(indent)}${head}${first}${beside}`.trimEnd(),
      ...more.map((line) => ' '.repeat(start) + line),
      ...(isBeside ? [] : noteLines(row, indent + 4, width)),
      ...remarks
        .filter((remark) => lastOf.get(remark) === cell)
        .flatMap((remark) => paragraph(remark, indent + 4, width)),
    ];
  });
};

const largest = (numbers: readonly number[]): number => numbers.reduce((best, one) => Math.max(best, one), 0);

/** Values share a line where there is room. */
const valueLines = (values: readonly RowValue[], room: number): string[] => {
  const lines: string[] = [];
  let isOpen = false;
  for (const value of values) {
    const text = valueText(value);
    const longer = `${lines.at(-1)}  ${text}`;
    const fits = shownWidth(text) <= room;
    if (fits && isOpen && shownWidth(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(...(fits ? [text] : shortLines(value, room)));
    isOpen = fits || !value.isChanged;
  }
  return lines;
};

const valueText = (value: RowValue): string => {
  const { label } = value;
  if (value.isChanged) return `${label}${styled(value.actual, 'red')} → ${styled(value.desired, 'green')}`;
  return label === '' ? value.text : styled(`${label}${value.text}`, 'gray');
};

/** Both sides of a change below each other. */
const shortLines = (value: RowValue, room: number): string[] => {
  const { label } = value;
  if (!value.isChanged) return [shorten(`${label}${value.text}`, room)];
  const [from, to] = shortenPair(value.actual, value.desired, room - label.length - 2);
  return [`${label}  ${styled(from, 'red')}`, `${' '.repeat(label.length)}→ ${styled(to, 'green')}`];
};

const noteOf = (row: ReportRow): string => {
  const words = wordsOf(row);
  if (row.outcome === null) return styled(words, 'gray');
  return (
    styled(outcomeWords[row.outcome], outcomeColors[row.outcome]) +
    styled(words === '' ? '' : ` · ${words}`, 'gray')
  );
};

const noteLines = (row: ReportRow, indent: number, width: number): string[] => {
  const note = noteOf(row);
  if (indent + shownWidth(note) <= width) return [' '.repeat(indent) + note];
  const outcome = row.outcome === null ? null : outcomeWords[row.outcome];
  return [...paragraph(outcome, indent, width, 'magenta'), ...paragraph(wordsOf(row), indent, width, 'gray')];
};

/** The signs of a template's differences are clear; those of a subdomain's need their word. */
const wordsOf = ({ kind, word, why, where }: ReportRow): string =>
  [...(spoken.has(kind) ? [word] : []), ...why, ...where].join(' · ');

const spoken: ReadonlySet<ReportRow['kind']> = new Set(['missing', 'stale', 'foreign', 'dangling']);

/** Words, wrapped to at most some ten lines. */
const paragraph = (text: string | null, indent: number, width: number, style?: Style): string[] =>
  text === null
    ? []
    : wrap(shorten(text, 10 * width), width - indent).map(
        (line) => ' '.repeat(indent) + (style === undefined ? line : styled(line, style)),
      );

type Style = 'bold' | 'gray' | 'red' | 'green' | 'yellow' | 'magenta' | 'cyan';

/** The caller knows where the text goes; Node.js would check stdout. */
const styled = (text: string, style: Style): string =>
  text === '' ? '' : styleText(style, text, { validateStream: false });

const shownWidth = (line: string): number => widthOf(stripVTControlCharacters(line));

const signs = { 'in-sync': '✓', drifted: '≠', suspended: '⊘', held: '‖', failed: '✗' } as const;

const colors = {
  'in-sync': 'green',
  pending: 'cyan',
  drifted: 'yellow',
  suspended: 'cyan',
  held: 'magenta',
  failed: 'red',
} as const;

const outcomeColors = { applied: 'green', failed: 'red', unknown: 'red', skipped: 'magenta' } as const;

const rowColors: Record<ReportRow['kind'], Style> = {
  add: 'green',
  update: 'yellow',
  park: 'cyan',
  surplus: 'magenta',
  blocked: 'red',
  missing: 'red',
  stale: 'yellow',
  foreign: 'magenta',
  dangling: 'red',
};
