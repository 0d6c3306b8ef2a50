import { isIPv4 } from 'node:net';
import { isAddress } from '../address.ts';
import { isNameLabel } from '../host.ts';
import { isPlaceholder } from '../placeholder.ts';
import type { TypeDefinition } from './definition.ts';

/** An IPv4 address (RFC 1035 §3.4.1). */
export const a = {
  // A strict dotted quad has only one spelling.
  canonical: (content) => content,
  canonicalPattern: (text) => text.toLowerCase(),
  ignoresCase: true,
  hasPriority: false,
  name: 'optional',
  isNameLabel,
  target: null,
  parts: null,
  checks: [
    {
      id: 'bad-ipv4',
      at: 'content',
      find: ({ content }, quote) => {
        if (isIPv4(content) || isPlaceholder(content)) return null;
        const hint = isAddress(content)
          ? 'an IPv6 address belongs in an AAAA record'
          : /^(?:[\w-]+\.)+[a-z][\w-]*\.?$/i.test(content)
            ? 'a host name belongs in a CNAME record'
            : 'that is four numbers from 0 to 255 without leading zeros, such as 192.0.2.1';
        return `${quote(content)} is not an IPv4 address; ${hint}`;
      },
    },
  ],
  whyNotIn: (text, isWhole) =>
    (isWhole ? isIPv4(text) : /^[\d.]*$/.test(text)) ? null : 'it cannot be part of an IPv4 address',
  writePhase: 0,
  inertContent: '0.0.0.0',
  conflictKind: () => 'other',
  independent: null,
} as const satisfies TypeDefinition;
