import { isIPv4 } from 'node:net';

/**
 * An IPv6 address (RFC 4291 §2.2) in the form of RFC 5952; null if the text is not one. A zone index has no
 * meaning in the DNS, so a text with one is not an address.
 */
export const canonicalIPv6 = (text: string): string | null => {
  const groups = groupsOf(text);
  if (groups === null) return null;
  const { start, length } = longestZeroRun(groups);
  const [high, low] = groups.slice(6);
  // §5: an IPv4-mapped address ends in dotted decimal.
  if (start === 0 && length === 5 && groups[5] === 65_535)
    return `::ffff:${high! >> 8}.${high! & 255}.${low! >> 8}.${low! & 255}`;
  const digits = groups.map((group) => group.toString(16));
  if (length < 2) return digits.join(':');
  return `${digits.slice(0, start).join(':')}::${digits.slice(start + length).join(':')}`;
};

/** Eight numbers below 65,536. */
const groupsOf = (text: string): number[] | null => {
  const gap = text.indexOf('::');
  const [head, tail]: [number[], number[]] = [[], []];
  if (gap < 0) return readGroups(text, 0, text.length, head) && head.length === 8 ? head : null;
  if (!readGroups(text, 0, gap, head) || !readGroups(text, gap + 2, text.length, tail)) return null;
  const missing = 8 - head.length - tail.length;
  if (missing < 1) return null;
  for (let zeros = 0; zeros < missing; zeros += 1) head.push(0);
  return head.concat(tail);
};

/** Appends the groups between two offsets; false if there is something else. */
const readGroups = (text: string, from: number, to: number, groups: number[]): boolean => {
  let [start, value] = [from, 0];
  for (let at = from; at < to; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === dot) return to === text.length && readIPv4(text.slice(start), groups);
    if (sign === colon) {
      if (at === start || at - start > 4) return false;
      groups.push(value);
      [start, value] = [at + 1, 0];
    } else {
      const digit = sign <= nine ? sign - zero : (sign | lowerCase) - letterA + 10;
      if (digit < 0 || digit > 15 || (sign > nine && digit < 10)) return false;
      value = value * 16 + digit;
    }
  }
  if (from === to) return true;
  groups.push(value);
  return to > start && to - start <= 4;
};

const [dot, colon, zero, nine, letterA, lowerCase] = [0x2e, 0x3a, 0x30, 0x39, 0x61, 0x20];

const readIPv4 = (text: string, groups: number[]): boolean => {
  const [a, b, c, d] = text.split('.').map(Number);
  groups.push(a! * 256 + b!, c! * 256 + d!);
  return isIPv4(text);
};

/** The first longest run of zeros. */
const longestZeroRun = (groups: readonly number[]): { start: number; length: number } => {
  let run = { start: 0, length: 0 };
  let start = 0;
  for (let index = 0; index < groups.length; index += 1) {
    if (groups[index] !== 0) start = index + 1;
    else if (index + 1 - start > run.length) run = { start, length: index + 1 - start };
  }
  return run;
};
