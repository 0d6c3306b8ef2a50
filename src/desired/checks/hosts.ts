import { isIP } from 'node:net';
import type { RecordDraft } from '../record-draft.ts';

/**
 * A name that something fills in later: `##DOMAIN##`, `{domain}`, `<domain>`, `%domain%`. What it will be, nobody
 * here knows.
 */
export const hasPlaceholder = (text: string): boolean => /##[^#]*##|\{[^{}]*\}|<[^<>]*>|%[^%]*%/.test(text);

/** The host that a record points at, in canonical form; null where it points at none, or its content is not in order. */
export const targetOf = ({ canonical: { type, content } }: RecordDraft): string | null => {
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

/** A target that is a host name or should be one: no placeholder, no address, no lone dot. */
export const hostTargetOf = (draft: RecordDraft): string | null => {
  const target = targetOf(draft);
  return target === null || target === '.' || isIP(target) !== 0 || hasPlaceholder(target) ? null : target;
};

/** Of a record's name, in canonical form, which keeps the dot that may end it. */
export const nameLabelsOf = (name: string): string[] => name.replace(/(?<=.)\.$/, '').split('.');

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
