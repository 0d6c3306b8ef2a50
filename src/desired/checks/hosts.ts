import { isIPv4 } from 'node:net';
import type { CanonicalRecord } from '../../model/canonical.ts';
import { canonicalIPv6 } from '../../model/ipv6.ts';

/**
 * A name that something fills in later: `##DOMAIN##`, `{domain}`, `<domain>`, `%domain%`. What it will be, nobody
 * here knows.
 */
export const hasPlaceholder = (text: string): boolean => /##[^#]*##|\{[^{}]*\}|<[^<>]*>|%[^%]*%/.test(text);

/** What the checks ask about the host names of a record, in canonical form, worked out once for all of them. */
export interface Hosts {
  /** Null where it is the subdomain itself, a placeholder, or wrong in a way that has a check of its own. */
  readonly name: Labels | null;
  /** The host that the record points at; null where it points at none, or its content is not in order. */
  readonly target: string | null;
  /** The target where it is a host name or should be one: no placeholder, no address, no lone dot. */
  readonly host: Labels | null;
}

export interface Labels {
  readonly text: string;
  readonly labels: readonly string[];
}

export const hostsOf = ({ type, name, content }: CanonicalRecord): Hosts => {
  const target = targetIn(type, content);
  return {
    name:
      name === '' || hasPlaceholder(name) || hasControlCharacter(name)
        ? null
        : { text: name, labels: nameLabelsOf(name) },
    target,
    host:
      target === null || target === '.' || isAddress(target) || hasPlaceholder(target)
        ? null
        : { text: target, labels: target.split('.') },
  };
};

const targetIn = (type: string, content: string): string | null => {
  switch (type) {
    case 'CNAME':
    case 'MX':
    case 'PTR':
      return content === '' ? null : content;
    case 'SRV':
      return /^\d+ \d+ (\S+)$/.exec(content)?.[1] ?? null;
    default:
      return null;
  }
};

/** Also with a zone index, as people copy it from a machine. */
export const isAddress = (text: string): boolean =>
  isIPv4(text) || canonicalIPv6(text.split('%', 1)[0]!) !== null;

/** Of a record's name, in canonical form, which keeps the dot that may end it. */
export const nameLabelsOf = (name: string): string[] =>
  (name.length > 1 && name.endsWith('.') ? name.slice(0, -1) : name).split('.');

export const octetsOf = (text: string): number => Buffer.byteLength(text, 'utf8');

// oxlint-disable-next-line no-control-regex
const control = /[\x00-\x1f\x7f-\x9f]|\p{Cs}/u;

export const hasControlCharacter = (text: string): boolean => control.test(text);

/** RFC 1123 §2.1: letters, digits and inner hyphens. In canonical form. */
export const isHostLabel = (label: string): boolean => /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(label);

/** Names of services, keys and policies begin with an underscore, and CNAMEs point at them. */
export const isNameLabel = (label: string): boolean => /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/.test(label);

/** RFC 2317: reverse zones smaller than a class C network have a slash in their name. */
export const isReverseLabel = (label: string): boolean => /^[a-z0-9_](?:[a-z0-9_/-]*[a-z0-9_])?$/.test(label);
