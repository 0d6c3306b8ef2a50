/** The columns of a text in a terminal: none for combining marks, two for wide letters. */
export const widthOf = (text: string): number =>
  /^[ -~]*$/.test(text)
    ? text.length
    : Array.from(text, columnsOf).reduce((sum, columns) => sum + columns, 0);

const columnsOf = (character: string): number => {
  if (/\p{M}/u.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
};

const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;

export const pad = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)));

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
  const [one, other] = [Array.from(from), Array.from(to)];
  const kept = Math.min(6, Math.floor(width / 8));
  const end = one.findIndex((character, index) => character !== other[index]);
  const start = (end === -1 ? one.length : end) - kept;
  const cut = (characters: readonly string[]): string => {
    const [head, tail] = [characters.slice(0, kept), characters.slice(start)];
    return shorten(start > kept ? [...head, '…', ...tail].join('') : characters.join(''), width);
  };
  return [cut(one), cut(other)];
};

/** As many of the first characters as fit. */
const take = (characters: readonly string[], width: number): string => {
  let columns = 0;
  const end = characters.findIndex((character) => (columns += columnsOf(character)) > width);
  return characters.slice(0, end === -1 ? characters.length : end).join('');
};

/** Wraps a text at blanks into lines of at most `width`; splits a word, or a command in backquotes, only if it is longer. */
export const wrap = (text: string, width: number): string[] => {
  const lines = [''];
  const add = (word: string): void => {
    const line = lines.at(-1)!;
    if (line === '' || widthOf(line) + 1 + widthOf(word) <= width)
      lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
    else lines.push(word);
  };
  const addFitting = (word: string): void => {
    if (widthOf(word) <= width) add(word);
    else if (word.includes(' ')) word.split(' ').forEach(addFitting);
    else {
      const piece = take(Array.from(word), width);
      add(piece);
      addFitting(word.slice(piece.length));
    }
  };
  (text.match(/(?:`[^`]*`|[^ ])+/g) ?? []).forEach(addFitting);
  return lines;
};
