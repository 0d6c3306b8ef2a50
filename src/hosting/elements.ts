/** The start and end offsets of the elements of a JSON array, in pairs. */
export type Bounds = readonly number[];

/** Limits for the structure of an answer: a small body may be large in memory. */
export interface Shape {
  readonly depth: number;
  /** Elements, members, arrays and objects. */
  readonly values: number;
}

/**
 * The bounds of the elements from `from`, an offset between two elements or before the first, to `until`.
 * Null if this is not an array in the usual form, or exceeds `max`. The content of elements is not checked.
 */
export const boundsIn = (text: Uint8Array, from: number, until: number, max: Shape): number[] | null => {
  const bounds: number[] = [];
  const found = scan(text, from, until, max, (offset) => bounds.push(offset));
  return found === 'whole' ? bounds : null;
};

/** Why the text of an answer must not be parsed; null if it may, or if the parser will report the error. */
export const shapeError = (text: Uint8Array, max: Shape): string | null => {
  const start = text.findIndex((octet) => !isIdle(octet));
  if (text[start] !== openBracket && text[start] !== openBrace) return null;
  const found = scan(text, start, text.length, max, () => undefined);
  if (found === 'too deep') return `the answer is nested deeper than ${max.depth} levels`;
  if (found === 'too full')
    return `the answer holds more than ${max.values} values: if that is right, allow more with maxAnswerSize`;
  return null;
};

/** Calls `edge` with the start and end of each outermost array or object. */
const scan = (
  text: Uint8Array,
  from: number,
  until: number,
  max: Shape,
  edge: (offset: number) => void,
): 'whole' | 'broken' | 'too deep' | 'too full' => {
  let depth = 0;
  let values = 0;
  for (let at = from; at < until; at += 1) {
    const octet = text[at];
    if (octet === quote) {
      at = endOfString(text, at, until);
      if (at < 0) return 'broken';
    } else if (octet === comma) {
      if ((values += 1) > max.values) return 'too full';
    } else if (octet === openBrace || octet === openBracket) {
      if (depth === 0) edge(at);
      if ((depth += 1) > max.depth) return 'too deep';
      if ((values += 1) > max.values) return 'too full';
    } else if (octet === closeBrace || octet === closeBracket) {
      depth -= 1;
      if (depth === 0) edge(at + 1);
      else if (depth < 0) return 'broken';
    }
  }
  return depth === 0 ? 'whole' : 'broken';
};

const endOfString = (text: Uint8Array, start: number, until: number): number => {
  for (let at = start + 1; at < until; at += 1) {
    if (text[at] === backslash) at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
};

/** White space, and the octets of a byte order mark. */
const isIdle = (octet: number): boolean => octet <= 0x20 || [0xef, 0xbb, 0xbf].includes(octet);

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
