import {
  canonicalHost,
  canonicalHostPattern,
  inertHost,
  isNameLabel,
  isReverseLabel,
  whyNotInHostAlone,
} from '../host.ts';
import type { TypeDefinition } from './definition.ts';

/** The host behind an address (RFC 1035 §3.3.12). */
export const ptr = {
  canonical: canonicalHost,
  canonicalPattern: canonicalHostPattern,
  ignoresCase: true,
  hasPriority: false,
  name: 'required',
  isNameLabel: isReverseLabel,
  target: {
    in: (content) => content || null,
    isLabel: isNameLabel,
    mayBeRoot: false,
    mayBeAlias: false,
    mistake: () => null,
  },
  parts: null,
  checks: [],
  whyNotIn: (text, isWhole) => whyNotInHostAlone('PTR', text, isWhole),
  writePhase: 1,
  inertContent: inertHost,
  conflictKind: () => 'other',
  independent: null,
} as const satisfies TypeDefinition;
