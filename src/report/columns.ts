/** Columns of a text in a terminal: characters, as if none were wide or combined. */
export const widthOf = (text: string): number => Array.from(text).length;

export const pad = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** Cuts the middle out of a text that is wider than `width`. */
export const shorten = (text: string, width: number): string => {
  const characters = Array.from(text);
  if (characters.length <= width) return text;
  const head = Math.ceil((width - 1) / 2);
  const tail = characters.slice(characters.length - (width - 1 - head));
  return `${characters.slice(0, head).join('')}…${tail.join('')}`;
};

/** Shortens two texts in the same way, so that the first difference stays visible. */
export const shortenPair = (from: string, to: string, width: number): [string, string] => {
  const [one, other] = [Array.from(from), Array.from(to)];
  if (one.length <= width && other.length <= width) return [from, to];
  const kept = Math.min(6, Math.floor(width / 8));
  const end = one.findIndex((character, index) => character !== other[index]);
  const start = (end === -1 ? one.length : end) - kept;
  const cut = (characters: readonly string[]): string => {
    const [head, tail] = [characters.slice(0, kept), characters.slice(start)];
    return shorten(start > kept ? [...head, '…', ...tail].join('') : characters.join(''), width);
  };
  return [cut(one), cut(other)];
};

/** Wraps a text at blanks into lines of at most `width`; splits a word, or a command in backquotes, only if it is longer. */
export const wrap = (text: string, width: number): string[] => {
  const lines = [''];
  const add = (word: string): void => {
    const line = lines.at(-1)!;
    const longer = line === '' ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else if (widthOf(word) <= width) lines.push(word);
    else if (word.includes(' ')) word.split(' ').forEach(add);
    else {
      const characters = Array.from(word);
      add(characters.slice(0, width).join(''));
      add(characters.slice(width).join(''));
    }
  };
  (text.match(/(?:`[^`]*`|[^ ])+/g) ?? []).forEach(add);
  return lines;
};
