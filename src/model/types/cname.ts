import { canonicalHost, canonicalHostPattern, inertHost } from '../host.ts';
import type { TypeDefinition } from './definition.ts';

/** An alias (RFC 1035 §3.3.1), alone at its name (RFC 1034 §3.6.2). */
export const cname = {
  canonical: canonicalHost,
  canonicalPattern: canonicalHostPattern,
  ignoresCase: true,
  hasPriority: false,
  needsName: false,
  writePhase: 2,
  inertContent: inertHost,
  conflictKind: () => 'CNAME',
  independent: null,
} satisfies TypeDefinition;
