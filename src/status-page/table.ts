import { html, type Markup } from '../report/markup.ts';

/** A row of a table; the first cell is its heading. */
export interface TableRow {
  /** What distinguishes it from other rows, for the script that keeps the page up to date. */
  readonly key?: string;
  readonly cells: readonly (Markup | string)[];
}

/** A table that is a list of labelled values on a phone. `caption`: for those who hear the page. */
export const table = (caption: string, titles: readonly string[], rows: readonly TableRow[]): Markup =>
  html`<table role="table">
    <caption class="unseen">
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${titles.map((title) => html`<th role="columnheader" scope="col">${title}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map((row) => rowOf(row, titles))}
    </tbody>
  </table>`;

const rowOf = (
  { key, cells: [heading = '', ...others] }: TableRow,
  [, ...titles]: readonly string[],
): Markup =>
  html`<tr role="row" ${key === undefined ? '' : html` data-key="${key}"`}>
    <th role="rowheader" scope="row">${heading}</th>
    ${others.map((cell, index) => html`<td role="cell" data-label="${titles[index] ?? ''}">${cell}</td>`)}
  </tr>`;
