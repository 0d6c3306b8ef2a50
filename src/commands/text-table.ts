import { escapeControl } from '../lib/escape-control.ts';
import { pad, widthOf } from '../report/columns.ts';

export type TextRow = Readonly<Record<string, string | number | null>>;

/** Columns under the keys of the first row, or a note that there is nothing. */
export const asTable = (rows: readonly TextRow[]): string => {
  const titles = Object.keys(rows[0] ?? {});
  if (titles.length === 0) return 'none\n';
  const cells = rows.map((row) => titles.map((title) => escapeControl(String(row[title] ?? '-'))));
  const lines = [titles.map((title) => title.toUpperCase()), ...cells];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column]!))));
  return lines
    .map(
      (line) =>
        `${line
          .map((text, column) => pad(text, widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
};
