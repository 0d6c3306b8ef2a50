import { domainToASCII } from 'node:url';
import { canonicalIPv6 } from './ipv6.ts';
import { hasPriority, type RecordData } from './record.ts';

/**
 * Records are compared in canonical form; what cannot be brought to it is compared as it is.
 *
 * | part                              | canonical form                                                        |
 * | --------------------------------- | --------------------------------------------------------------------- |
 * | type                              | upper case                                                            |
 * | name                              | `''` for the subdomain itself (absent, `""`, `@`); lower case, A-labels |
 * | A, AAAA                           | strict dotted quad; RFC 5952                                          |
 * | CNAME, MX, PTR content, SRV target | lower case, A-labels, one trailing dot dropped; a lone `.` stays      |
 * | SRV content                       | weight, port, target, joined by single blanks                         |
 * | TXT                               | presentation format (RFC 1035 §5.1) undone when quoted, else verbatim |
 * | priority                          | MX and SRV only                                                       |
 */
export interface CanonicalRecord {
  readonly type: string;
  readonly name: string;
  readonly content: string;
  readonly priority: number | null;
}

export const canonicalRecord = (record: RecordData): CanonicalRecord => {
  const type = canonicalType(record.type);
  return {
    type,
    name: canonicalName(record.name),
    content: canonicalContent(type, record.content),
    priority: hasPriority(type) ? record.priority : null,
  };
};

export const canonicalType = (type: string): string => type.toUpperCase();

/** Relative and absolute names are not equated, nor are placeholders resolved: nobody here knows the zone. */
export const canonicalName = (name: string | null): string =>
  name === null || name === '' || name === '@' ? '' : canonicalLabels(name);

/** `type` in upper case. */
export const canonicalContent = (type: string, content: string): string => {
  switch (type) {
    case 'AAAA':
      return canonicalIPv6(content) ?? content;
    case 'CNAME':
    case 'MX':
    case 'PTR':
      return canonicalHost(content);
    case 'SRV':
      return canonicalSrv(content);
    case 'TXT':
      return content.startsWith('"') ? (unquoteText(content) ?? content) : content;
    default:
      // A strict dotted quad has one spelling only, so type A needs no work; unknown types stay as they are.
      return content;
  }
};

const canonicalHost = (host: string): string => {
  const labels = canonicalLabels(host);
  return /[^.]\.$/.test(labels) ? labels.slice(0, -1) : labels;
};

const canonicalSrv = (content: string): string => {
  const parts = content.trim().split(/\s+/);
  const [weight, port, target] = parts;
  if (parts.length !== 3 || !isWholeNumber(weight) || !isWholeNumber(port)) return content;
  return `${Number(weight)} ${Number(port)} ${canonicalHost(target!)}`;
};

const isWholeNumber = (text: string | undefined): boolean => text !== undefined && /^\d{1,10}$/.test(text);

const plainLabels = /^[a-z0-9._*-]*$/;
const asciiOnly = /^[\x00-\x7f]*$/;

const canonicalLabels = (name: string): string => {
  if (plainLabels.test(name)) return name;
  if (asciiOnly.test(name)) return name.toLowerCase();
  return name
    .split('.')
    .map((label) => (asciiOnly.test(label) ? label.toLowerCase() : aLabel(label)))
    .join('.');
};

/**
 * UTS 46, non-transitional. The platform's function takes a whole host as it stands in a URL: ASCII characters
 * that mean something there keep the label out of it, and a last label of letters keeps it from reading numbers
 * in other scripts as an IPv4 address.
 */
const aLabel = (label: string): string => {
  if (/[\x00-\x20"#%/:<>?@[\\\]^`{|}\x7f]/.test(label)) return label;
  const ascii = domainToASCII(`${label}.x`);
  return ascii.length <= '.x'.length ? label : ascii.slice(0, -'.x'.length);
};

const quotedStrings = /^"(?:[^"\\]|\\[^])*"(?:[ \t]*"(?:[^"\\]|\\[^])*")*[ \t]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of adjacent quoted strings; null where it does not parse, or its octets are not UTF-8. */
const unquoteText = (content: string): string | null => {
  if (!quotedStrings.test(content)) return null;
  const inner = content
    .trimEnd()
    .slice(1, -1)
    .replace(/\\[^]|"[ \t]*"/g, (part) => (part.startsWith('"') ? '' : part));
  if (!inner.includes('\\')) return inner;
  return unescapeText(inner);
};

const unescapeText = (text: string): string | null => {
  const source = Buffer.from(text, 'utf8');
  const octets = Buffer.alloc(source.length);
  let length = 0;
  for (let at = 0; at < source.length; at += 1) {
    let octet = source[at]!;
    if (octet === backslash) {
      const digits = source.subarray(at + 1, at + 4).toString('latin1');
      const isNumber = /^\d/.test(digits);
      if (isNumber && (!/^\d{3}$/.test(digits) || Number(digits) > 255)) return null;
      octet = isNumber ? Number(digits) : source[at + 1]!;
      at += isNumber ? 3 : 1;
    }
    octets[length] = octet;
    length += 1;
  }
  try {
    return utf8.decode(octets.subarray(0, length));
  } catch {
    return null;
  }
};

const backslash = 0x5c;

/** Whether two records have all in common, in canonical form and the TTL. */
export const sameData = (a: RecordData, b: RecordData): boolean => {
  const [left, right] = [canonicalRecord(a), canonicalRecord(b)];
  return (
    left.type === right.type &&
    left.name === right.name &&
    left.content === right.content &&
    left.priority === right.priority &&
    a.ttl === b.ttl
  );
};
