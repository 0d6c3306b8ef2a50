import { escapeControl } from '../lib/escape-control.ts';
import { pad, widthOf } from './columns.ts';

export type TableRow = Readonly<Record<string, string | number | null>>;

/** Columns under the keys of the first row, or a note that there is nothing. */
export const asTable = (rows: readonly TableRow[]): string => {
  const [first] = rows;
  if (!first) return 'none\n';
  const titles = Object.keys(first);
  const cells = rows.map((row) => titles.map((title) => escapeControl(String(row[title] ?? '-'))));
  const widths = titles.map((title, column) =>
    Math.max(widthOf(title), ...cells.map((line) => widthOf(line[column] ?? ''))),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, column) => pad(text, widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${[titles.map((title) => title.toUpperCase()), ...cells].map(line).join('\n')}\n`;
};
