/** Tells whether a text contains one of these parts, in a time that does not grow with their number. */
export const containsAny = (parts: readonly string[]): ((text: string) => boolean) => {
  const distinct = [...new Set(parts)];
  if (distinct.length <= few) return (text) => distinct.some((part) => text.includes(part));
  const short = distinct.filter(({ length }) => length < minWidth);
  const long = distinct.filter(({ length }) => length >= minWidth);
  const width = Math.min(maxWidth, ...long.map(({ length }) => length));
  const byBeginning = new Map<string, string[]>();
  for (const part of long) {
    const beginning = part.slice(0, width);
    const known = byBeginning.get(beginning);
    if (known) known.push(part);
    else byBeginning.set(beginning, [part]);
  }
  return (text) => {
    if (short.some((part) => text.includes(part))) return true;
    for (let at = 0; at + width <= text.length; at += 1) {
      const candidates = byBeginning.get(text.slice(at, at + width));
      if (candidates?.some((part) => text.startsWith(part, at)) === true) return true;
    }
    return false;
  };
};

/** Looking for so many one by one is quicker. */
const few = 100;
/** Characters of a part by which it is found. */
const minWidth = 4;
const maxWidth = 8;
