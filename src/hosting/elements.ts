/** Where the elements of a JSON array begin and end in its text: offsets in pairs. */
export type Bounds = readonly number[];

/**
 * The bounds of the elements that follow `from`, a place between two elements or before the first, until `until`;
 * null where this is no array, or not in the form that services write it. Nothing inside an element is checked.
 */
export const boundsIn = (text: Uint8Array, from: number, until: number): number[] | null => {
  const bounds: number[] = [];
  let depth = 0;
  for (let at = from; at < until; at += 1) {
    const octet = text[at];
    if (octet === quote) {
      at = endOfString(text, at, until);
      if (at < 0) return null;
    } else if (octet === openBrace || octet === openBracket) {
      if (depth === 0) bounds.push(at);
      depth += 1;
    } else if (octet === closeBrace || octet === closeBracket) {
      depth -= 1;
      if (depth === 0) bounds.push(at + 1);
      else if (depth < 0) return null;
    }
  }
  return depth === 0 ? bounds : null;
};

const endOfString = (text: Uint8Array, start: number, until: number): number => {
  for (let at = start + 1; at < until; at += 1) {
    if (text[at] === backslash) at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
};

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
