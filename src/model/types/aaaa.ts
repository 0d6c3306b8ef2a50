import { canonicalIPv6 } from '../ipv6.ts';
import type { TypeDefinition } from './definition.ts';

/** An IPv6 address (RFC 3596), as RFC 5952 writes it. */
export const aaaa = {
  canonical: (content) => canonicalIPv6(content) ?? content,
  canonicalPattern: (text) => text.toLowerCase().replace(/(^|:)0+(?=[0-9a-f])/g, '$1'),
  ignoresCase: true,
  hasPriority: false,
  needsName: false,
  writePhase: 0,
  inertContent: '::',
  conflictKind: () => 'other',
  independent: null,
} satisfies TypeDefinition;
