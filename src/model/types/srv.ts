import {
  canonicalHost,
  canonicalHostPattern,
  inertHost,
  isHostLabel,
  isNameLabel,
  whyNotInHost,
} from '../host.ts';
import { hasPlaceholder } from '../placeholder.ts';
import { isUnsigned16, maxUnsigned16 } from '../unsigned16.ts';
import type { TypeDefinition } from './definition.ts';

/** The location of a service (RFC 2782): `<weight> <port> <target>`; the priority is separate. */
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
  name: 'required',
  isNameLabel,
  target: {
    in: (content) => /^\d+ \d+ (\S+)$/.exec(content)?.[1] ?? null,
    isLabel: isHostLabel,
    mayBeRoot: true,
    mayBeAlias: false,
    mistake: () => null,
  },
  parts: {
    of: (content) => {
      const [, weight, port, target] = inOrder.exec(content) ?? [];
      if (target === undefined || Math.max(Number(weight), Number(port)) > maxUnsigned16) return null;
      return { weight: Number(weight), port: Number(port), target };
    },
    // Invalid content stays as it is; a check reports it unless the record allows it.
    joined: (content) => (inOrder.test(content) ? content.trim().split(/\s+/).join(' ') : content),
  },
  checks: [
    {
      id: 'srv-content',
      at: 'content',
      find: ({ content }, quote) => {
        const [weight, port, target, ...more] = content.split(' ');
        const isInOrder = isUnsigned16(weight) && isUnsigned16(port) && Boolean(target) && more.length === 0;
        if (isUnsigned16(target) && more.length === 1)
          return `the priority has a key of its own: \`content: ${port} ${target} ${more[0]!}\`, \`priority: ${weight}\``;
        return isInOrder
          ? null
          : `${quote(content)} is not \`<weight> <port> <target>\` with numbers from 0 to ${maxUnsigned16}`;
      },
    },
    {
      id: 'srv-name',
      at: 'name',
      find: ({ name }, quote) =>
        name === null || hasPlaceholder(name) || /^_[^.]+\._[^.]+(?:\.|$)/.test(name)
          ? null
          : `clients ask for an SRV record by \`_service._protocol\`, not by ${quote(name)}`,
    },
  ],
  whyNotIn: whyNotInHost,
  writePhase: 2,
  inertContent: `0 0 ${inertHost}`,
  conflictKind: () => 'other',
  independent: null,
} as const satisfies TypeDefinition;

const isWholeNumber = (text: string | undefined): boolean => text !== undefined && /^\d{1,10}$/.test(text);

const inOrder = /^\s*(\d{1,10})\s+(\d{1,10})\s+(\S+)\s*$/;
