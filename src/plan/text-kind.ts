const kinds = new Set(['v=spf1', 'v=dmarc1', 'v=dkim1', 'v=stsv1', 'v=tlsrptv1', 'v=bimi1']);

/**
 * The kind of a TXT record by its version tag (SPF RFC 7208, DMARC RFC 7489, DKIM RFC 6376, MTA-STS RFC 8461,
 * TLS-RPT RFC 8460, BIMI): a name holds one text of a kind at most. Null for free text.
 */
export const textKind = (text: string): string | null => {
  const word = /^[^\s;]*/.exec(text)![0].toLowerCase();
  return kinds.has(word) ? word : null;
};
