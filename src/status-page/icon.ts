import { icons } from '../report/html-words.ts';

/** The icon of the tab, by state. */
export const icon = (state: string): string => {
  const color = colors[icons[state]?.[2] ?? state] ?? '#57606c';
  const shape = shapes[icons[state]?.[2] ?? state] ?? shapes['pending'];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="${color}">${shape}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
};

const colors: Readonly<Record<string, string>> = {
  'in-sync': '#1f9d4d',
  drifted: '#d98a00',
  held: '#b04bb3',
  failed: '#d8343f',
};

const shapes: Readonly<Record<string, string>> = {
  'in-sync': '<circle cx="8" cy="8" r="7"/>',
  drifted: '<path d="M8 0l8 8-8 8-8-8z"/>',
  held: '<path d="M1 1h14v14H1z"/>',
  failed: '<path d="M8 1l8 14H0z"/>',
  pending: '<path d="M8 1a7 7 0 1 0 .01 0zm0 3a4 4 0 1 1-.01 0z" fill-rule="evenodd"/>',
};
