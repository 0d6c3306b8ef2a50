/** The rows of a table in a text: a line each, with ` | ` between two cells. */
export const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((row) => row.trim().split(' | '));
