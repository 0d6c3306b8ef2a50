import {
  canonicalHost,
  canonicalHostPattern,
  inertHost,
  isHostLabel,
  isNameLabel,
  whyNotInHostAlone,
} from '../host.ts';
import type { TypeDefinition } from './definition.ts';

/** A mail exchange (RFC 1035 §3.3.9); `.` means that there is none (RFC 7505). */
export const mx = {
  canonical: canonicalHost,
  canonicalPattern: canonicalHostPattern,
  ignoresCase: true,
  hasPriority: true,
  name: 'optional',
  isNameLabel: isNameLabel,
  target: {
    in: (content) => content || null,
    isLabel: isHostLabel,
    mayBeRoot: true,
    mayBeAlias: false,
    mistake: (content) => {
      const [, priority, host] = /^(\d+)\s+(\S+)$/.exec(content) ?? [];
      return host === undefined
        ? null
        : `the priority has a key of its own: \`content: ${host}\`, \`priority: ${priority}\``;
    },
  },
  parts: null,
  checks: [],
  whyNotIn: (text, isWhole) => whyNotInHostAlone('MX', text, isWhole),
  writePhase: 2,
  inertContent: inertHost,
  conflictKind: (content) => (content === '.' ? 'null MX' : 'MX'),
  independent: null,
} as const satisfies TypeDefinition;
