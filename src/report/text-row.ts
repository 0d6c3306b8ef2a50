import { pad, shorten, shortenPair, widthOf } from './columns.ts';
import { outcomeWords, type ReportRow } from './row.ts';
import { join, type TerminalLine, lineWidth, paragraph, type Style } from './terminal.ts';

/**
 * Differences in columns: symbol, type, name, content or changes, notes. Notes that do not fit are below
 * their row.
 */
export const rowLines = (rows: readonly ReportRow[], indent: number, width: number): TerminalLine[] => {
  const typeWidth = Math.min(8, widest(rows.map(({ type }) => type)));
  const nameWidth = Math.min(Math.floor(width / 4), widest(rows.map(({ name }) => name)));
  const start = indent + 2 + typeWidth + 1 + nameWidth + 2;
  const room = width - start;
  const details = rows.map((row) => detailLines(row, room));
  const notes = rows.map(notesOf);
  const notesWidth = largest(notes.map(lineWidth));
  const short = details.filter((lines) => isOneLine(lines, room - notesWidth - 2));
  const notesColumn = largest(short.map(([line = []]) => lineWidth(line)));

  // A remark of several rows is shown once, below the last of them.
  const remarks = rows.map(remarksOf);
  const lastRows = new Map(remarks.flatMap((some, index) => some.map((remark) => [remark, index])));

  return rows.flatMap((row, index) => {
    const [first = [], ...more] = details[index] ?? [];
    const note = notes[index] ?? [];
    const column = Math.max(notesColumn, lineWidth(first));
    const beside = more.length === 0 && column + 2 + lineWidth(note) <= room;
    return [
      [
        { text: ' '.repeat(indent) },
        { text: `${row.symbol} `, style: kindStyles[row.kind] },
        { text: `${pad(shorten(row.type, typeWidth), typeWidth)} ` },
        { text: `${pad(shorten(row.name, nameWidth), nameWidth)}  `, style: 'bold' },
        ...first,
        ...(beside ? shifted(note, column - lineWidth(first) + 2) : []),
      ] satisfies TerminalLine,
      ...more.map((line) => shifted(line, start)),
      ...(beside ? [] : belowLines(row, note, indent + 4, width)),
      ...(remarks[index] ?? [])
        .filter((remark) => lastRows.get(remark) === index)
        .flatMap((remark) => paragraph(remark, indent + 4, width)),
    ];
  });
};

const remarksOf = ({ remarks, toDo }: ReportRow): readonly string[] => [
  ...remarks,
  ...(toDo === null ? [] : [`To do: ${toDo.shared}`]),
];

const kindStyles: Record<ReportRow['kind'], Style> = {
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

const outcomeStyles: Record<NonNullable<ReportRow['outcome']>, Style> = {
  applied: 'green',
  failed: 'red',
  unknown: 'red',
  skipped: 'magenta',
};

const between = ' · ';

const widest = (texts: readonly string[]): number => largest(texts.map(widthOf));

const largest = (numbers: readonly number[]): number =>
  numbers.reduce((best, number) => Math.max(best, number), 0);

const isOneLine = ([first, ...more]: readonly TerminalLine[], width: number): boolean =>
  first !== undefined && more.length === 0 && lineWidth(first) <= width;

const shifted = (line: TerminalLine, indent: number): TerminalLine => [{ text: ' '.repeat(indent) }, ...line];

/** Everything in one line if it fits, else one line each for content, changes and facts. */
const detailLines = (row: ReportRow, room: number): TerminalLine[] => {
  const content: TerminalLine[] = row.content === null ? [] : [[{ text: row.content }]];
  const facts: TerminalLine[] = row.facts.map((fact) => [{ text: fact, style: 'gray' }]);
  const oneLine = join([...content, ...row.changes.map(changeLine), ...facts], '  ');
  if (lineWidth(oneLine) <= room) return [oneLine];
  return [
    ...(row.content === null ? [] : [[{ text: shorten(row.content, room) }]]),
    ...row.changes.flatMap((change) => changeLines(change, room)),
    ...row.facts.map((fact): TerminalLine => [{ text: shorten(fact, room), style: 'gray' }]),
  ];
};

type TextChange = ReportRow['changes'][number];

const changeLine = ({ field, from, to }: TextChange): TerminalLine => [
  ...(field === 'content' ? [] : [{ text: `${field} ` }]),
  { text: from, style: 'red' },
  { text: ' → ' },
  { text: to, style: 'green' },
];

const changeLines = (change: TextChange, room: number): TerminalLine[] => {
  const oneLine = changeLine(change);
  if (lineWidth(oneLine) <= room) return [oneLine];
  const label = change.field === 'content' ? '' : `${change.field} `;
  const [from, to] = shortenPair(change.from, change.to, room - label.length - 2);
  return [
    [{ text: `${label}  ` }, { text: from, style: 'red' }],
    [{ text: `${' '.repeat(label.length)}→ ` }, { text: to, style: 'green' }],
  ];
};

const notesOf = (row: ReportRow): TerminalLine => [
  ...(row.outcome === null ? [] : [{ text: outcomeWords[row.outcome], style: outcomeStyles[row.outcome] }]),
  { text: `${row.outcome === null ? '' : between}${wordsOf(row)}`, style: 'gray' },
];

const belowLines = (row: ReportRow, note: TerminalLine, indent: number, width: number): TerminalLine[] => {
  if (indent + lineWidth(note) <= width) return [shifted(note, indent)];
  return [
    ...(row.outcome === null
      ? []
      : paragraph(outcomeWords[row.outcome], indent, width, outcomeStyles[row.outcome])),
    ...paragraph(wordsOf(row), indent, width, 'gray'),
  ];
};

/** The symbols of a template's differences are clear; those of a subdomain's need their word. */
const wordsOf = ({ kind, word, why, where }: ReportRow): string =>
  [...(spoken.has(kind) ? [word] : []), ...why, ...where].join(between);

const spoken: ReadonlySet<ReportRow['kind']> = new Set(['missing', 'stale', 'foreign', 'dangling']);
