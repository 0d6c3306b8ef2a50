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

/** The parts of two texts: what both begin with, in what they differ, and what both end with. */
export const compared = (from: string, to: string) => {
  const [one, other] = [Array.from(from), Array.from(to)];
  const max = Math.min(one.length, other.length);
  let start = 0;
  while (start < max && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < max - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const middle = (all: readonly string[]): string => all.slice(start, all.length - end).join('');
  return {
    start: one.slice(0, start).join(''),
    from: middle(one),
    to: middle(other),
    end: one.slice(one.length - end).join(''),
  };
};

/** Shortens two texts in the same way, so that the first difference stays visible. */
export const shortenPair = (from: string, to: string, width: number): [string, string] => {
  if (widthOf(from) <= width && widthOf(to) <= width) return [from, to];
  const kept = Math.min(6, Math.floor(width / 8));
  const start = Array.from(compared(from, to).start);
  const left = start.length > 2 * kept ? start.slice(kept, -kept).join('').length : 0;
  const cut = (text: string): string => {
    const head = start.slice(0, kept).join('');
    return shorten(left === 0 ? text : `${head}…${text.slice(head.length + left)}`, width);
  };
  return [cut(from), cut(to)];
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
