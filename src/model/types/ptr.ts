import { canonicalHost, canonicalHostPattern, inertHost } from '../host.ts';
import type { TypeDefinition } from './definition.ts';

/** The host behind an address (RFC 1035 §3.3.12). */
export const ptr = {
  canonical: canonicalHost,
  canonicalPattern: canonicalHostPattern,
  ignoresCase: true,
  hasPriority: false,
  needsName: true,
  writePhase: 1,
  inertContent: inertHost,
  conflictKind: () => 'other',
  independent: null,
} satisfies TypeDefinition;
