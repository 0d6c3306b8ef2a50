import { escapeControl } from '../lib/escape-control.ts';

/** The columns of a text in a terminal: none for combining marks, two for wide letters. */
export const widthOf = (text: string): number => {
  if (/^[ -~]*$/.test(text)) return text.length;
  return Array.from(text, columnsOf).reduce((sum, columns) => sum + columns, 0);
};

/** Cuts the middle out of a text that is wider than `width`. */
export const shorten = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text;
  const characters = Array.from(text);
  const head = take(characters, Math.ceil((width - 1) / 2));
  const tail = take(characters.toReversed(), width - 1 - widthOf(head));
  return `${head}…${Array.from(tail).toReversed().join('')}`;
};

/** Shortens two texts in the same way, so that the first difference stays visible. */
export const shortenPair = (from: string, to: string, width: number): [string, string] => {
  if (widthOf(from) <= width && widthOf(to) <= width) return [from, to];
  const kept = Math.min(6, Math.floor(width / 8));
  const start = Math.max(0, sameStart(Array.from(from), Array.from(to)) - kept);
  const cut = (text: string): string => {
    const characters = Array.from(text);
    const rest = characters.slice(start).join('');
    return shorten(start > kept ? `${characters.slice(0, kept).join('')}…${rest}` : text, width);
  };
  return [cut(from), cut(to)];
};

/** Wraps a text at blanks into lines of at most `width`; splits a word, or a command in backquotes, only if it is longer. */
export const wrap = (text: string, width: number): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of wordsOf(text, width).flatMap((whole) => pieces(whole, width))) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
};

const wordsOf = (text: string, width: number): string[] =>
  (text.match(/(?:`[^`]*`|[^ ])+/g) ?? ['']).flatMap((word) =>
    widthOf(word) > width ? word.split(' ') : [word],
  );

export const pad = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)));

const columnsOf = (character: string): number => {
  if (/\p{M}/u.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
};

const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;

const take = (characters: readonly string[], width: number): string => {
  let columns = 0;
  const end = characters.findIndex((character) => (columns += columnsOf(character)) > width);
  return characters.slice(0, end === -1 ? characters.length : end).join('');
};

const sameStart = (from: readonly string[], to: readonly string[]): number => {
  const end = from.findIndex((character, index) => character !== to[index]);
  return end === -1 ? from.length : end;
};

const pieces = (word: string, width: number): string[] => {
  const found: string[] = [];
  let rest = word;
  while (widthOf(rest) > width) {
    const piece = take(Array.from(rest), width);
    found.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...found, rest];
};

export type TextRow = Readonly<Record<string, string | number | null>>;

/** Columns under the keys of the first row, or a note that there is nothing. */
export const asTable = (rows: readonly TextRow[]): string => {
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
