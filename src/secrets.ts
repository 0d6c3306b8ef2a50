/**
 * A function that replaces every given secret in a text by `[secret]`, however a service or a library spells
 * it: raw, URL-encoded (also with `+` for a blank), JSON-escaped or as HTML entities, or a mixture of them.
 */
export const scrubber = (secrets: readonly string[]): ((text: string) => string) => {
  // The longest first, so that a secret which begins with another one is replaced whole.
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= shortestSecret)
    .sort((a, b) => b.length - a.length);
  if (known.length === 0) return (text) => text;
  const pattern = new RegExp(known.map((secret) => Array.from(secret, spellings).join('')).join('|'), 'g');
  const signs = [...spellingSigns, ...known];
  const replaceWhole = (text: string): string =>
    signs.some((sign) => text.includes(sign)) ? text.replace(pattern, '[secret]') : text;
  return (text) => withoutBeginnings(replaceWhole(text), known);
};

/** Messages quote only the beginning of a long text, and so perhaps of a secret. */
const withoutBeginnings = (text: string, secrets: readonly string[]): string => {
  if (!text.includes('...') && !text.includes('…')) return text;
  const parts = text.split(/(\.\.\.|…)/);
  return parts
    .map((part, index) => (index % 2 === 0 && index < parts.length - 1 ? withoutEnd(part, secrets) : part))
    .join('');
};

const withoutEnd = (part: string, secrets: readonly string[]): string => {
  for (const secret of secrets) {
    for (let length = secret.length - 1; length >= shortestBeginning; length -= 1) {
      if (part.endsWith(secret.slice(0, length))) return `${part.slice(0, -length)}[secret]`;
    }
  }
  return part;
};

/** Of fewer characters nothing can be told that a word might not be. */
const shortestBeginning = 8;

/** The same value, every text in it cleaned: whatever came with an answer or a file may repeat a secret. */
export const cleanTexts = <T>(value: T, clean: (text: string) => string): T => {
  const cleaned = (part: unknown): unknown => {
    if (typeof part === 'string') return clean(part);
    if (Array.isArray(part)) return part.map(cleaned);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, cleaned(inner)]));
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a text stays a text, all else what it was
  return cleaned(value) as T;
};

/** Shorter ones stand in ordinary words too: a mark in each of those places would only tell what the secret is. */
export const shortestSecret = 4;

/**
 * In a text without these every character stands for itself. To look for one after the other takes a tenth of
 * the time that a regular expression takes.
 */
const spellingSigns = ['%', '&', '+', '\\'];

/** A regular expression of all ways in which one character may be written, itself being the last: `&` begins `&amp;`. */
const spellings = (character: string): string => {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  const ways = [
    Array.from(Buffer.from(character), (byte) => `%${anyCase(byte.toString(16).padStart(2, '0'))}`).join(''),
    Array.from({ length: character.length }, (_, at) => `\\\\+u${anyCase(codeUnit(character, at))}`).join(''),
    `&#0*${character.codePointAt(0)};`,
    `&#[xX]0*${anyCase(hex)};`,
    ...(otherSpellings[character] ?? []),
    literal(character),
  ];
  return `(?:${ways.join('|')})`;
};

const literal = (character: string): string => character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');

const codeUnit = (character: string, at: number): string =>
  character.charCodeAt(at).toString(16).padStart(4, '0');

const anyCase = (hex: string): string => hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

const otherSpellings: Readonly<Record<string, readonly string[]>> = {
  ' ': ['\\+'],
  '\n': ['\\\\+n'],
  '\r': ['\\\\+r'],
  '\t': ['\\\\+t'],
  '\b': ['\\\\+b'],
  '\f': ['\\\\+f'],
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  '"': ['&quot;', '\\\\+"'],
  '\\': ['\\\\+'],
  '/': ['\\\\+/'],
  "'": ['&apos;'],
};
