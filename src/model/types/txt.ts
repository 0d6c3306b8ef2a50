import { nameLabelsOf } from '../host.ts';
import { hasPlaceholder } from '../placeholder.ts';
import { isQuotedText, unquoteText } from '../quoted-text.ts';
import { isSpf, textKind } from '../text.ts';
import { common, type TypeDefinition } from './definition.ts';

const canonicalText = (content: string): string =>
  content.startsWith('"') ? (unquoteText(content) ?? content) : content;

/**
 * Text (RFC 1035 §3.3.14): in presentation format if it is quoted, else verbatim. One name may have texts of
 * several owners.
 */
export const txt = {
  ...common,
  canonical: canonicalText,
  canonicalPattern: canonicalText,
  ignoresCase: false,
  checks: [
    {
      id: 'txt-length',
      at: 'content',
      find: ({ content, canonical }) => whyTooLong(content, canonical.content),
    },
    { id: 'text-notation', at: 'content', find: ({ content }) => foreignNotation(content) },
    {
      id: 'spf-open',
      at: 'content',
      find: ({ canonical: { content } }) => {
        const isOpen = isSpf(content) && !/\s(?:[+?~-]?all|redirect=\S+)(?:\s|$)/i.test(content);
        return isOpen && !hasPlaceholder(content)
          ? 'this SPF ends with neither `all` nor `redirect=`: it says nothing about other senders'
          : null;
      },
    },
    {
      id: 'dmarc-place',
      at: 'name',
      find: ({ canonical: { name, content } }) => {
        if (!/^v=DMARC1(?:[\s;]|$)/i.test(content) || hasPlaceholder(name)) return null;
        return nameLabelsOf(name).includes('_dmarc')
          ? null
          : 'a DMARC policy is looked for at `_dmarc`, nowhere else';
      },
    },
  ],
  inertContent: 'parked',
  writePhase: 1,
  independent: { kindOf: textKind },
} as const satisfies TypeDefinition;

/** Why a text, as written and in canonical form, cannot be served; null if it can. */
const whyTooLong = (written: string, text: string): string | null => {
  const strings = text === written ? [] : stringsIn(written);
  const long = strings.find((string) => octetsOf(string) > 255);
  if (long !== undefined)
    return `one quoted string of the text has ${octetsOf(long)} octets; 255 are allowed: split it into several, "..." "..."`;
  const octets = octetsOf(text);
  const data = octets + Math.max(strings.length, Math.ceil(octets / 255));
  return data > maxTextData ? `a text of ${octets} octets does not fit into a DNS message` : null;
};

/**
 * The largest TXT data in one DNS message of 65,535 octets: minus a header of 12, a question of at most 259,
 * and 12 before the data (RFC 1035 §4).
 */
const maxTextData = 65_535 - 12 - 259 - 12;

/** The strings of a content in presentation format, each escape as one letter. */
const stringsIn = (content: string): string[] =>
  [...content.matchAll(/"((?:[^"\\]|\\[^])*)"/g)].map(([, text]) => text!.replace(/\\(?:\d{3}|[^])/g, 'x'));

const octetsOf = (text: string): number => Buffer.byteLength(text, 'utf8');

/**
 * Why a text is probably in another tool's notation, and would go live with its signs; null if it is not. A text that
 * begins with `"` and parses is in presentation format, where quotation marks and backslashes belong to the notation.
 */
const foreignNotation = (text: string): string | null => {
  const isQuoted = text.startsWith('"') && isQuotedText(text);
  const shown = isQuoted ? (unquoteText(text) ?? '') : text;
  if (!isQuoted && zoneLine.test(text)) return 'this is a line of a zone file: write its text alone';
  if (!isQuoted && signs.some((pattern) => pattern.test(text)))
    return 'quotation marks, apostrophes, backslashes or brackets of another tool would be part of the text: write it without them, or put the whole text between `"` and `"`';
  if (typographic.test(shown))
    return 'typographic quotation marks would be part of the text: remove them, or write `"`';
  return oddBlank.test(shown)
    ? 'a blank at its beginning or end, or an unusual one (a no-break space, or the like), would be part of the text: remove it, or write it again by hand'
    : null;
};

const zoneLine = /^(?:\S+\s+){0,2}IN\s+TXT\s|^(?:\S+\s+)?(?:\d+\s+)?TXT\s+["(]/i;

const signs = [
  /^\s*\(\s*"[^]*"\s*\)\s*$/,
  /\\[";]/,
  /^[^"]+(?:"\s+"[^"]+)+$/,
  // Opens or closes nothing.
  /^"|^[^"]*(?:"[^"]*"[^"]*)*"$/,
  /^'[^]*'$/,
];

const typographic = /^[“”„‟«»‘’‚‹›]|[“”„‟«»‹›]$|^\s*[\w.-]+\s*=[^]*[“”„‟]/;

const oddBlank = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]|^[^\S\n]|[^\S\n]$/;
