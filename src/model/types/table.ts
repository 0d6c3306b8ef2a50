import { isIPv4 } from 'node:net';
import { canonicalIPv6, isAddress } from '../address.ts';
import {
  canonicalHost,
  canonicalHostPattern,
  inertHost,
  isHostLabel,
  isNameLabel,
  isReverseLabel,
} from '../host.ts';
import { isPlaceholder } from '../placeholder.ts';
import { common, type TypeDefinition } from './definition.ts';
import { srv } from './srv.ts';
import { txt } from './txt.ts';

/** A content that is a host alone. */
const toHost = {
  ...common,
  canonical: canonicalHost,
  canonicalPattern: canonicalHostPattern,
  inertContent: inertHost,
};

const target = {
  in: (content: string) => content || null,
  mayBeRoot: false,
  mayBeAlias: false,
  mistake: () => null,
};

/** The types a template record can have (service specification §2, DNS template record). */
export const definitions = {
  /** An IPv4 address (RFC 1035 §3.4.1). */
  A: {
    ...common,
    // A strict dotted quad has only one spelling.
    canonical: (content) => content,
    canonicalPattern: (text) => text.toLowerCase(),
    checks: [
      {
        id: 'bad-ipv4',
        at: 'content',
        find: ({ content }, quote) => {
          if (isIPv4(content) || isPlaceholder(content)) return null;
          const hint = isAddress(content)
            ? 'an IPv6 address belongs in an AAAA record'
            : /^(?:[\w-]+\.)+[a-z][\w-]*\.?$/i.test(content)
              ? 'a host name belongs in a CNAME record'
              : 'that is four numbers from 0 to 255 without leading zeros, such as 192.0.2.1';
          return `${quote(content)} is not an IPv4 address; ${hint}`;
        },
      },
    ],
    inertContent: '0.0.0.0',
    writePhase: 0,
  },
  /** An IPv6 address (RFC 3596), as RFC 5952 writes it. */
  AAAA: {
    ...common,
    canonical: (content) => canonicalIPv6(content) ?? content,
    canonicalPattern: (text) => text.toLowerCase().replace(/(^|:)0+(?=[0-9a-f])/g, '$1'),
    checks: [
      {
        id: 'bad-ipv6',
        at: 'content',
        find: ({ content }, quote) => {
          if (canonicalIPv6(content) !== null || isPlaceholder(content)) return null;
          const hint = isIPv4(content)
            ? 'an IPv4 address belongs in an A record'
            : 'that is up to eight groups of hexadecimal digits, such as 2001:db8::1';
          return `${quote(content)} is not an IPv6 address; ${hint}`;
        },
      },
    ],
    inertContent: '::',
    writePhase: 0,
  },
  /** An alias (RFC 1035 §3.3.1), alone at its name (RFC 1034 §3.6.2). */
  CNAME: {
    ...toHost,
    name: 'below-apex',
    isNameLabel: isReverseLabel,
    target: { ...target, isLabel: isReverseLabel, mayBeAlias: true },
    writePhase: 2,
    conflictKind: () => 'CNAME',
  },
  /** A mail exchange (RFC 1035 §3.3.9); `.` means that there is none (RFC 7505). */
  MX: {
    ...toHost,
    hasPriority: true,
    target: {
      ...target,
      isLabel: isHostLabel,
      mayBeRoot: true,
      mistake: (content) => {
        const [, priority, host] = /^(\d+)\s+(\S+)$/.exec(content) ?? [];
        return host === undefined
          ? null
          : `the priority has a key of its own: \`content: ${host}\`, \`priority: ${priority}\``;
      },
    },
    writePhase: 2,
    conflictKind: (content) => (content === '.' ? 'null MX' : 'MX'),
  },
  /** The host behind an address (RFC 1035 §3.3.12). */
  PTR: {
    ...toHost,
    name: 'required',
    isNameLabel: isReverseLabel,
    target: { ...target, isLabel: isNameLabel },
    writePhase: 1,
  },
  SRV: srv,
  TXT: txt,
} as const satisfies Readonly<Record<string, TypeDefinition>>;

const byType: ReadonlyMap<string, TypeDefinition> = new Map(Object.entries(definitions));

/** `type` in upper case; undefined for an unknown type. */
export function definitionOf(type: keyof typeof definitions): TypeDefinition;
export function definitionOf(type: string): TypeDefinition | undefined;
export function definitionOf(type: string): TypeDefinition | undefined {
  return byType.get(type);
}
