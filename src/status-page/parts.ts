import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { icons } from '../report/html-words.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import type { PassEntry } from './facts.ts';

/** A table that is a list of labelled values on a phone. `caption`: for those who hear the page. Rows begin with a heading. */
export const table = (
  caption: string,
  titles: readonly string[],
  rows: readonly (readonly MarkupValue[])[],
): Markup =>
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
      ${rows.map(
        ([heading = null, ...cells]) =>
          html`<tr role="row">
            <th role="rowheader" scope="row">${heading}</th>
            ${cells.map((cell, at) => html`<td role="cell" data-label="${titles[at + 1] ?? ''}">${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;

/** Milliseconds in words. */
export const duration = (ms: number): string => {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
};

const reasons: Readonly<Record<PassEntry['trigger'], string>> = {
  startup: 'the program started',
  schedule: 'on schedule',
  'file-change': 'a file changed',
  request: 'on request',
  command: 'by a command',
};

export const reasonOf = (trigger: PassEntry['trigger']): string => reasons[trigger] ?? escapeControl(trigger);

/** How many are not on the page, with a link to them. */
export const rest = (left: number, noun: string, address: string, words = `/${address}`): MarkupValue =>
  left > 0 && html`<p class="rest">and ${plural(left, noun)} more: <a href="${address}">${words}</a></p>`;

/** The icon of the tab: the shape and the colour of a state. */
export const tabIcon = (state: string): string => {
  const [shape, , color = state] = icons[state] ?? ['○', state];
  const text = `<text y="14" font-size="18" fill="${colors[color] ?? '#57606c'}">${shape}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${text}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
};

const colors: Readonly<Record<string, string>> = {
  'in-sync': '#1f9d4d',
  drifted: '#d98a00',
  held: '#b04bb3',
  failed: '#d8343f',
};
