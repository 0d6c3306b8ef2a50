import { unquoteText } from '../quoted-text.ts';
import type { TypeDefinition } from './definition.ts';

/** Text (RFC 1035 §3.3.14): in presentation format where it is quoted, else verbatim. One name serves many owners. */
export const txt = {
  canonical: (content) => canonicalText(content),
  canonicalPattern: (text) => canonicalText(text),
  ignoresCase: false,
  hasPriority: false,
  needsName: false,
  writePhase: 1,
  inertContent: 'parked',
  conflictKind: () => 'other',
  independent: {
    kindOf: (content) => textKind(content),
    // But for blanks, quotes and case, or cut short.
    isRespelled: (sent, stored) => {
      const [one, other] = [letters(sent), letters(stored)];
      return one === other || (other !== '' && one.startsWith(other));
    },
  },
} satisfies TypeDefinition;

const canonicalText = (content: string): string =>
  content.startsWith('"') ? (unquoteText(content) ?? content) : content;

/**
 * The kind of a TXT record by its version tag (SPF RFC 7208, DMARC RFC 7489, DKIM RFC 6376, MTA-STS RFC 8461,
 * TLS-RPT RFC 8460, BIMI): a name holds one text of a kind at most. Null for free text.
 */
export const textKind = (text: string): string | null => {
  const word = /^[^\s;]*/.exec(text)![0].toLowerCase();
  return kinds.has(word) ? word : null;
};

const kinds = new Set(['v=spf1', 'v=dmarc1', 'v=dkim1', 'v=stsv1', 'v=tlsrptv1', 'v=bimi1']);

const letters = (text: string): string => text.replaceAll(/[\s"\\]+/g, '').toLowerCase();
