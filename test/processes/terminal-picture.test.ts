import { readFile, writeFile } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { startOnTerminal } from '../process.ts';
import { workplace } from '../program.ts';

vi.setConfig({ testTimeout: 30_000 });

const picture = '.github/plan.svg';

/** `PICTURE=new` renews it. */
it('the picture of a plan in the README is what a terminal shows', async () => {
  const command = ['plan', '--sandbox', '--reset', 'standard-web'];
  const { stdout } = await startOnTerminal(command, {
    cwd: await workplace(),
    env: { TERM: 'xterm-256color' },
  }).ended;
  const lines = [`$ dns-template-sync ${command.join(' ')}`, ...stdout.trimEnd().split(/\r?\n/)];
  const drawn = drawing(lines);
  if (process.env['PICTURE'] === 'new') await writeFile(picture, drawn);
  expect(await readFile(picture, 'utf8')).toBe(drawn);
});

const columns = 100;
const charWidth = 8.4;
const lineHeight = 20;
const margin = 16;

/** The lines of a terminal as an SVG. Each piece has its column, so that no font moves the next one. */
const drawing = (lines: readonly string[]): string => {
  const width = Math.round(columns * charWidth) + 2 * margin;
  const height = lines.length * lineHeight + 2 * margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="100%" height="100%" rx="8" fill="#1b1f24"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#d8dee4">`,
    ...lines.flatMap((line, at) => textsOf(line, margin + (at + 0.75) * lineHeight)),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
};

const colors: Readonly<Record<string, string | undefined>> = {
  31: '#ff7b72',
  32: '#56d364',
  33: '#e3b341',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
};

const textsOf = (line: string, y: number): string[] => {
  const texts: string[] = [];
  let column = 0;
  let color: string | undefined;
  let isBold = false;
  // oxlint-disable-next-line no-control-regex -- what a terminal is sent
  for (const [, code, text = ''] of line.matchAll(/\u001B\[(\d+)m|([^\u001B]+)/g)) {
    if (code === '1' || code === '22') isBold = code === '1';
    else if (code !== undefined) color = colors[code];
    for (const [word] of text.matchAll(/\S+(?: \S+)*/g)) {
      const x = margin + (column + text.indexOf(word)) * charWidth;
      const style = `${color === undefined ? '' : ` fill="${color}"`}${isBold ? ' font-weight="bold"' : ''}`;
      texts.push(
        `<text x="${x.toFixed(1)}" y="${y}" textLength="${(word.length * charWidth).toFixed(1)}"${style}>${escaped(word)}</text>`,
      );
    }
    column += text.length;
  }
  return texts;
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
