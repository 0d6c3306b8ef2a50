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

/** As `U+200B`, the first character that nobody sees and that does not belong to its text; null if there is none. */
export const unseenIn = (text: string): string | null => {
  const [first] = ascii.test(text) ? [] : (unseen.exec(text) ?? []);
  if (first === undefined) return null;
  // Other scripts need joiners, and emoji need them and variation selectors.
  const rest = text.replaceAll(/\u200c|\u200d|\ufe0e|\ufe0f/g, '');
  if (/[^\x00-\x7f]/.test(rest) && !unseen.test(rest)) return null;
  return `U+${first.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
};

const ascii = /^[\x00-\x7f]*$/;

const unseen = /[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;
