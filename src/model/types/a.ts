import type { TypeDefinition } from './definition.ts';

/** An IPv4 address (RFC 1035 §3.4.1). */
export const a = {
  // A strict dotted quad has one spelling only.
  canonical: (content) => content,
  canonicalPattern: (text) => text.toLowerCase(),
  ignoresCase: true,
  hasPriority: false,
  needsName: false,
  writePhase: 0,
  inertContent: '0.0.0.0',
  conflictKind: () => 'other',
  independent: null,
} satisfies TypeDefinition;
