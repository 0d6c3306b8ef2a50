import { canonicalHost, canonicalHostPattern, inertHost } from '../host.ts';
import type { TypeDefinition } from './definition.ts';

/** Where a service is (RFC 2782): `<weight> <port> <target>`, the priority apart. */
export const srv = {
  canonical: (content) => {
    const parts = content.trim().split(/\s+/);
    const [weight, port, target] = parts;
    if (parts.length !== 3 || !isWholeNumber(weight) || !isWholeNumber(port)) return content;
    return `${Number(weight)} ${Number(port)} ${canonicalHost(target!)}`;
  },
  canonicalPattern: (text) =>
    text.trim().replace(/\s+/g, ' ').replace(/\S+$/, canonicalHostPattern).toLowerCase(),
  ignoresCase: true,
  hasPriority: true,
  needsName: true,
  writePhase: 2,
  inertContent: `0 0 ${inertHost}`,
  conflictKind: () => 'other',
  independent: null,
} satisfies TypeDefinition;

const isWholeNumber = (text: string | undefined): boolean => text !== undefined && /^\d{1,10}$/.test(text);
