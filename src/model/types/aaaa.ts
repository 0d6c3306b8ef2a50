import { isIPv4 } from 'node:net';
import { isNameLabel } from '../host.ts';
import { canonicalIPv6 } from '../ipv6.ts';
import { isPlaceholder } from '../placeholder.ts';
import type { TypeDefinition } from './definition.ts';

/** An IPv6 address (RFC 3596), as RFC 5952 writes it. */
export const aaaa = {
  canonical: (content) => canonicalIPv6(content) ?? content,
  canonicalPattern: (text) => text.toLowerCase().replace(/(^|:)0+(?=[0-9a-f])/g, '$1'),
  ignoresCase: true,
  hasPriority: false,
  name: 'optional',
  isNameLabel,
  target: null,
  parts: null,
  checks: [
    {
      id: 'bad-ipv6',
      at: 'content',
      find: ({ content }, quote) => {
        if (canonicalIPv6(content) !== null || isPlaceholder(content)) return null;
        const hint = isIPv4(content)
          ? 'an IPv4 address belongs in an A record'
          : 'that is up to eight groups of hexadecimal digits, such as 2001:db8::1';
        return `${quote(content)} is not an IPv6 address; ${hint}`;
      },
    },
  ],
  whyNotIn: (text, isWhole) =>
    (isWhole ? canonicalIPv6(text) !== null : /^[\da-f:.]*$/.test(text))
      ? null
      : 'it cannot be part of an IPv6 address',
  writePhase: 0,
  inertContent: '::',
  conflictKind: () => 'other',
  independent: null,
} as const satisfies TypeDefinition;
