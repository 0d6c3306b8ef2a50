import { stripVTControlCharacters, styleText } from 'node:util';
import { plural } from '../lib/plural.ts';
import { withoutApplied, type Report } from '../result.ts';
import type { AnswersView } from './answers-view.ts';
import { pad, shorten, shortenPair, widthOf, wrap } from './columns.ts';
import { outcomeWords, type ReportRow, type RowValue } from './row.ts';
import {
  isQuiet,
  type ProblemView,
  stateOf,
  statusWords,
  type SubdomainView,
  type TemplateView,
  type View,
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
  const { all = false } = options;
  const width = Math.max(40, options.width);
  const templates = options.withoutApplied === true ? report.templates.map(withoutApplied) : report.templates;
  const view = viewOf({ ...report, templates });
  const shown = view.templates.filter((one) => one.asOf !== null && (all || !isQuiet(one)));
  const quiet = all || view.status === 'in-sync' ? 0 : view.templates.filter(isQuiet).length;
  const lines = [
    ...paragraph(view.causes, 0, width, 'gray'),
    ...shown.flatMap((template) => templateLines(template, width)),
    '',
    ...view.outages.flatMap((outage) => outageLines(outage, width)),
    '',
    ...(quiet > 0
      ? [
          styled(
            `${signs['in-sync']} ${quiet} of ${plural(view.templates.length, 'template')} in sync`,
            'green',
          ),
        ]
      : []),
    '',
    ...view.problems.flatMap((problem) => problemLines(problem, width)),
    '',
    ...view.commits.flatMap(({ id, url }) => paragraph(`commit ${id} ${url}`, 0, width, 'gray')),
    ...paragraph(view.summary, 0, width, colors[view.status]),
    ...paragraph(view.unmanaged, 0, width, 'gray'),
  ];
  // One blank line between two blocks, none at the start.
  const text = lines
    .filter((line, index) => line !== '' || (index > 0 && lines[index - 1] !== ''))
    .map((line) => `${line}\n`)
    .join('');
  return options.color ? text : stripVTControlCharacters(text);
};

type Style = 'bold' | 'gray' | 'red' | 'green' | 'yellow' | 'magenta' | 'cyan';

/** The caller knows where the text goes; Node.js would check stdout. */
const styled = (text: string, style: Style): string =>
  text === '' ? '' : styleText(style, text, { validateStream: false });

const shownWidth = (line: string): number => widthOf(stripVTControlCharacters(line));

/** Words, wrapped to at most some ten lines. */
const paragraph = (text: string | null, indent: number, width: number, style?: Style): string[] =>
  text === null
    ? []
    : wrap(shorten(text, 10 * width), width - indent).map(
        (line) => ' '.repeat(indent) + (style === undefined ? line : styled(line, style)),
      );

const colors = {
  'in-sync': 'green',
  pending: 'cyan',
  drifted: 'yellow',
  suspended: 'cyan',
  held: 'magenta',
  failed: 'red',
} as const;

const signs = { 'in-sync': '✓', drifted: '≠', suspended: '⊘', held: '‖', failed: '✗' } as const;

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

const subdomainLines = (
  { subdomain, status, message, rows, answers }: SubdomainView,
  width: number,
): string[] => [
  ...paragraph(
    `subdomain ${subdomain}: ${statusWords[status]}${message === null ? '' : `. ${message}`}`,
    2,
    width,
    colors[status],
  ),
  ...rowLines(rows, 4, width),
  ...(answers === null ? [] : answersLines(answers, width)),
];

const answersLines = ({ status, remarks, rows }: AnswersView, width: number): string[] => [
  ...paragraph(`name servers: ${statusWords[status]}`, 4, width, colors[status]),
  ...remarks.flatMap((remark) => paragraph(remark, 6, width)),
  ...rowLines(rows, 6, width),
];

const outageLines = ({ message, templates }: View['outages'][number], width: number): string[] => [
  ...paragraph(
    `${signs.failed} ${plural(templates.length, 'template')} not compared: ${message}`,
    0,
    width,
    'red',
  ),
  ...paragraph(templates.join(', '), 2, width, 'gray'),
];

const problemLines = ({ severity, place, message, check }: ProblemView, width: number): string[] =>
  paragraph(
    `${place === '' ? '' : `${place}: `}${severity}: ${message} [${check}]`,
    0,
    width,
    severity === 'error' ? 'red' : 'yellow',
  );

/**
 * Differences in columns: sign, type, name, values, notes. Notes that do not fit are below their row; a remark of several rows
 * is shown once, below the last of them.
 */
const rowLines = (rows: readonly ReportRow[], indent: number, width: number): string[] => {
  const typeWidth = Math.min(8, largest(rows.map(({ type }) => widthOf(type))));
  const nameWidth = Math.min(Math.floor(width / 4), largest(rows.map(({ name }) => widthOf(name))));
  const start = indent + 2 + typeWidth + 1 + nameWidth + 2;
  const room = width - start;
  const values = rows.map((row) => valueLines(row.values, room));
  const notes = rows.map(noteOf);
  const widths = values.map((lines) => (lines.length > 1 ? Infinity : shownWidth(lines[0] ?? '')));
  const noteWidths = notes.map(shownWidth);
  const isBeside = widths.map((own, index) => own + 2 + (noteWidths[index] ?? 0) <= room);
  const widest = largest(noteWidths.filter((_, index) => isBeside[index]));
  const column = largest(widths.filter((own) => own + 2 + widest <= room));
  const remarks = rows.map(({ remarks: some, toDo }) => [
    ...some,
    ...(toDo === null ? [] : [`To do: ${toDo.shared}`]),
  ]);
  const lastOf = new Map(remarks.flatMap((some, index) => some.map((remark) => [remark, index])));

  return rows.flatMap((row, index) => {
    const [first = '', ...more] = values[index] ?? [];
    const [note = '', own = 0] = [notes[index], widths[index]];
    const beside = isBeside[index] ? ' '.repeat(Math.max(column - own, 0) + 2) + note : '';
    const head = [
      styled(`${row.sign} `, rowColors[row.kind]),
      `${pad(shorten(row.type, typeWidth), typeWidth)} `,
      styled(`${pad(shorten(row.name, nameWidth), nameWidth)}  `, 'bold'),
    ];
    return [
      `${' '.repeat(indent)}${head.join('')}${first}${beside}`.trimEnd(),
      ...more.map((line) => ' '.repeat(start) + line),
      ...(isBeside[index] ? [] : noteLines(row, indent + 4, width)),
      ...(remarks[index] ?? [])
        .filter((remark) => lastOf.get(remark) === index)
        .flatMap((remark) => paragraph(remark, indent + 4, width)),
    ];
  });
};

const largest = (numbers: readonly number[]): number => numbers.reduce((best, one) => Math.max(best, one), 0);

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

const outcomeColors = { applied: 'green', failed: 'red', unknown: 'red', skipped: 'magenta' } as const;

/** Values share a line where there is room. */
const valueLines = (values: readonly RowValue[], room: number): string[] => {
  const lines: string[][] = [];
  for (const some of values.map((value) => linesOf(value, room))) {
    const [last = ''] = lines.at(-1) ?? [];
    const longer = `${last}  ${some[0]}`;
    const isJoined = last !== '' && [lines.at(-1), some].every((one) => one?.length === 1);
    if (isJoined && shownWidth(longer) <= room) lines[lines.length - 1] = [longer];
    else lines.push(some);
  }
  return lines.flat();
};

const valueText = (value: RowValue): string => {
  const { label } = value;
  if (value.isChanged) return `${label}${styled(value.actual, 'red')} → ${styled(value.desired, 'green')}`;
  return label === '' ? value.text : styled(`${label}${value.text}`, 'gray');
};

const linesOf = (value: RowValue, room: number): string[] => {
  const oneLine = valueText(value);
  if (shownWidth(oneLine) <= room) return [oneLine];
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
