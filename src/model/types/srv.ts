import { canonicalHost, canonicalHostPattern, inertHost, isHostLabel } from '../host.ts';
import { hasPlaceholder } from '../placeholder.ts';
import { common, type TypeDefinition } from './definition.ts';

/** The location of a service (RFC 2782): `<weight> <port> <target>`; the priority is separate. */
export const srv = {
  ...common,
  canonical: (content) => {
    const [, weight, port, target] = inOrder.exec(content) ?? [];
    return target === undefined ? content : `${Number(weight)} ${Number(port)} ${canonicalHost(target)}`;
  },
  canonicalPattern: (text) =>
    text.trim().replace(/\s+/g, ' ').replace(/\S+$/, canonicalHostPattern).toLowerCase(),
  hasPriority: true,
  name: 'required',
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
        if (isUnsigned16(target) && more.length === 1)
          return `the priority has a key of its own: \`content: ${port} ${target} ${more[0]!}\`, \`priority: ${weight}\``;
        return isUnsigned16(weight) && isUnsigned16(port) && Boolean(target) && more.length === 0
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
  inertContent: `0 0 ${inertHost}`,
  writePhase: 2,
} as const satisfies TypeDefinition;

const inOrder = /^\s*(\d{1,10})\s+(\d{1,10})\s+(\S+)\s*$/;

/** The largest number of two octets: of a priority, a weight, a port. */
export const maxUnsigned16 = 65_535;

export const isUnsigned16 = (text: string | undefined): boolean =>
  text !== undefined && /^\d{1,5}$/.test(text) && Number(text) <= maxUnsigned16;
