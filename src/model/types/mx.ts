import { canonicalHost, canonicalHostPattern, inertHost } from '../host.ts';
import type { TypeDefinition } from './definition.ts';

/** A mail exchange (RFC 1035 §3.3.9); `.` says that there is none (RFC 7505). */
export const mx = {
  canonical: canonicalHost,
  canonicalPattern: canonicalHostPattern,
  ignoresCase: true,
  hasPriority: true,
  needsName: false,
  writePhase: 2,
  inertContent: inertHost,
  conflictKind: (content) => (content === '.' ? 'null MX' : 'MX'),
  independent: null,
} satisfies TypeDefinition;
