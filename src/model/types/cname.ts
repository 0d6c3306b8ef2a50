import {
  canonicalHost,
  canonicalHostPattern,
  inertHost,
  isReverseLabel,
  whyNotInHostAlone,
} from '../host.ts';
import type { TypeDefinition } from './definition.ts';

/** An alias (RFC 1035 §3.3.1), alone at its name (RFC 1034 §3.6.2). */
export const cname = {
  canonical: canonicalHost,
  canonicalPattern: canonicalHostPattern,
  ignoresCase: true,
  hasPriority: false,
  name: 'below-apex',
  isNameLabel: isReverseLabel,
  target: {
    in: (content) => content || null,
    isLabel: isReverseLabel,
    mayBeRoot: false,
    mayBeAlias: true,
    mistake: () => null,
  },
  parts: null,
  checks: [],
  whyNotIn: (text, isWhole) => whyNotInHostAlone('CNAME', text, isWhole),
  writePhase: 2,
  inertContent: inertHost,
  conflictKind: () => 'CNAME',
  independent: null,
} as const satisfies TypeDefinition;
