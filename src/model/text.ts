/**
 * The kind of a TXT record by its version tag (SPF RFC 7208, DMARC RFC 7489, DKIM RFC 6376, MTA-STS RFC 8461,
 * TLS-RPT RFC 8460, BIMI): a name may have one text of each kind. Null for free text.
 */
export const textKind = (text: string): string | null => {
  const word = /^[^\s;]*/.exec(text)![0].toLowerCase();
  return kinds.has(word) ? word : null;
};

const kinds = new Set(['v=spf1', 'v=dmarc1', 'v=dkim1', 'v=stsv1', 'v=tlsrptv1', 'v=bimi1']);

/** In canonical form. */
export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text);

/**
 * The largest TXT data in one DNS message of 65,535 octets: minus a header of 12, a question of at most 259,
 * and 12 before the data (RFC 1035 §4).
 */
const maxTextData = 65_535 - 12 - 259 - 12;

/** Why a text, as written and in canonical form, cannot be served; null if it can. */
export const whyTooLong = (written: string, text: string): string | null => {
  const strings = text === written ? [] : stringsIn(written);
  const long = strings.find((string) => octetsOf(string) > 255);
  if (long !== undefined)
    return `one quoted string of the text has ${octetsOf(long)} octets; 255 are allowed: split it into several, "..." "..."`;
  const octets = octetsOf(text);
  const data = octets + Math.max(strings.length, Math.ceil(octets / 255));
  return data > maxTextData ? `a text of ${octets} octets does not fit into a DNS message` : null;
};

/** The strings of a content in presentation format, each escape as one letter. */
const stringsIn = (content: string): string[] =>
  [...content.matchAll(/"((?:[^"\\]|\\[^])*)"/g)].map(([, text]) => text!.replace(/\\(?:\d{3}|[^])/g, 'x'));

const octetsOf = (text: string): number => Buffer.byteLength(text, 'utf8');
