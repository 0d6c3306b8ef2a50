/**
 * What a name can have but one text of: SPF at any name, other kinds at the names where they are looked for. Null for free
 * text. The tag is looked for after quotes and backslashes are taken away, which some services and people add.
 *
 * | kind           | name                        | the text begins with        |
 * | -------------- | --------------------------- | --------------------------- |
 * | SPF            | any                         | `v=spf1` (RFC 7208)         |
 * | DMARC          | `_dmarc`                    | `v=DMARC1` (RFC 7489)       |
 * | MTA-STS        | `_mta-sts`                  | `v=STSv1` (RFC 8461)        |
 * | TLS reporting  | `_smtp._tls`                | `v=TLSRPTv1` (RFC 8460)     |
 * | BIMI           | a label below `_bimi`       | `v=BIMI1`                   |
 * | DKIM           | a label below `_domainkey`  | has `p=` (RFC 6376 §3.6.1)  |
 */
export const textKind = (name: string, text: string): string | null => {
  const plain = text.replaceAll(/["\\]/g, '').trim();
  const version = /^v\s*=\s*(\w+)(?=[\s;]|$)/i.exec(plain)?.[1]?.toLowerCase() ?? '';
  if (version === 'spf1') return version;
  const labels = `${name}.`;
  if (/(?:^|\.)_domainkey\./.test(labels)) return /(?:^|;)\s*p\s*=/i.test(plain) ? 'dkim1' : null;
  const place = places.get(version);
  return place?.test(labels) ? version : null;
};

const places = new Map([
  ['dmarc1', /^_dmarc\./],
  ['stsv1', /^_mta-sts\./],
  ['tlsrptv1', /^_smtp\._tls\./],
  ['bimi1', /(?:^|\.)_bimi\./],
]);

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
