/** Limits for the structure of an answer: a small body may be large in memory. */
export interface Shape {
  readonly depth: number;
  /** Elements, members, arrays and objects. */
  readonly values: number;
}

/** Why the text of an answer must not be parsed; null if it may, or if the parser will report the error. */
export const shapeError = (text: Uint8Array, max: Shape): string | null => {
  const start = text.findIndex((octet) => !isIdle(octet));
  if (text[start] !== openBracket && text[start] !== openBrace) return null;
  const found = valueAt(text, start, max);
  if (found === 'too deep') return `the answer is nested deeper than ${max.depth} levels`;
  if (found === 'too full')
    return `the answer holds more than ${max.values} values: if that is right, allow more with maxAnswerSize`;
  return null;
};

/**
 * The array or object that starts at `from`: where it ends, and how many values are in it, if that is within `max`.
 * It is well-formed only as far as brackets go.
 */
export const valueAt = (
  text: Uint8Array,
  from: number,
  max: Shape,
): { readonly until: number; readonly values: number } | 'broken' | 'too deep' | 'too full' => {
  let depth = 0;
  let values = 0;
  for (let at = from; at < text.length; at += 1) {
    const octet = text[at];
    if (octet === quote) {
      at = endOfString(text, at);
      if (at < 0) return 'broken';
    } else if (octet === comma) {
      if ((values += 1) > max.values) return 'too full';
    } else if (octet === openBrace || octet === openBracket) {
      if ((depth += 1) > max.depth) return 'too deep';
      if ((values += 1) > max.values) return 'too full';
    } else if (octet === closeBrace || octet === closeBracket) {
      depth -= 1;
      if (depth === 0) return { until: at + 1, values };
    }
    if (depth <= 0) return 'broken';
  }
  return 'broken';
};

const endOfString = (text: Uint8Array, start: number): number => {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === backslash) at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
};

/** The offset after white space. */
export const afterBlanks = (text: Uint8Array, from: number): number => {
  let at = from;
  while (text[at] === 0x20 || text[at] === 0x0a || text[at] === 0x0d || text[at] === 0x09) at += 1;
  return at;
};

/** White space, and the octets of a byte order mark. */
const isIdle = (octet: number): boolean => octet <= 0x20 || [0xef, 0xbb, 0xbf].includes(octet);

const quote = 0x22;
export const comma = 0x2c;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
