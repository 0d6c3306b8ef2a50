import { isQuotedText, unquoteText } from './quoted-text.ts';

/**
 * Why a text is probably in another tool's notation, and would go live with its signs; null if it is not. A text that
 * begins with `"` and parses is in presentation format, where quotation marks and backslashes belong to the notation.
 */
export const foreignNotation = (text: string): string | null => {
  const isQuoted = text.startsWith('"') && isQuotedText(text);
  const signs = isQuoted ? oddSigns : [...notations, ...oddSigns];
  const shown = isQuoted ? (unquoteText(text) ?? '') : text;
  return signs.find(({ pattern }) => pattern.test(shown))?.why ?? null;
};

const notations = [
  {
    pattern: /^(?:\S+\s+){0,2}IN\s+TXT\s|^(?:\S+\s+)?(?:\d+\s+)?TXT\s+["(]/i,
    why: 'this is a line of a zone file: write its text alone',
  },
  {
    pattern: /^\s*\(\s*"[^]*"\s*\)\s*$/,
    why: 'the brackets of a zone file would be part of the text: remove them',
  },
  {
    pattern: /\\"/,
    why: 'backslashes before quotation marks would be part of the text: remove them, or put the whole text between `"` and `"`',
  },
  { pattern: /\\;/, why: 'a backslash before `;` would be part of the text: write `;` alone' },
  {
    pattern: /^[^"]+(?:"\s+"[^"]+)+$/,
    why: 'quotation marks in the middle would be part of the text: remove `" "`, or put the whole text between `"` and `"`',
  },
  {
    pattern: /^"|^[^"]*(?:"[^"]*"[^"]*)*"$/,
    why: 'a quotation mark that opens or closes nothing would be part of the text: remove it, or add the other one',
  },
  { pattern: /^'[^]*'$/, why: 'the apostrophes around would be part of the text: remove them' },
];

const oddSigns = [
  {
    pattern: /^[“”„‟«»‘’‚‹›]|[“”„‟«»‹›]$|^\s*[\w.-]+\s*=[^]*[“”„‟]/,
    why: 'typographic quotation marks would be part of the text: remove them, or write `"`',
  },
  {
    pattern: /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/,
    why: 'a blank in it is not the usual one (a no-break space, or the like), which no program takes for a blank: write it again by hand',
  },
  { pattern: /^[^\S\n]/, why: 'a blank at its beginning would be part of the text: remove it' },
  { pattern: /[^\S\n]$/, why: 'a blank at its end would be part of the text: remove it' },
];
