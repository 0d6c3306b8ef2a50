import { isIPv6 } from 'node:net';
import type { RecordData } from '../../src/model/record.ts';
import { parseUrl } from '../../src/lib/parse-url.ts';

/**
 * When two records are the same, as the judge sees it: written from the RFCs and the service specification alone, and
 * with nothing of the program that is judged by it.
 */
export interface CanonicalRecord {
  readonly type: string;
  /** Empty for the subdomain itself. */
  readonly name: string;
  readonly content: string;
  readonly priority: number | null;
}

/** Records are immutable, and are compared many times. */
const known = new WeakMap<RecordData, CanonicalRecord>();

export const canonicalRecord = (record: RecordData): CanonicalRecord => {
  const found = known.get(record);
  if (found) return found;
  const type = canonicalType(record.type);
  const made = {
    type,
    name: canonicalName(record.name),
    content: canonicalContent(type, record.content),
    priority: hasPriority(type) ? record.priority : null,
  };
  known.set(record, made);
  return made;
};

export const canonicalType = (type: string): string => type.toUpperCase();

/** The types of the service specification, §2. */
export const isKnownType = ({ type }: Pick<RecordData, 'type'>): boolean =>
  ['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'SRV', 'TXT'].includes(canonicalType(type));

/** Service specification, §4.5. */
export const hasPriority = (type: string): boolean => ['MX', 'SRV'].includes(canonicalType(type));

export const canonicalName = (name: string | null): string => {
  const text = name ?? '';
  return text === '@' ? '' : canonicalLabels(text.replaceAll(/\\(?:\d{3}|\D)/g, unescaped));
};

/** RFC 1035 §5.1, and the octal numbers of those that write `\052` for a star. Other escapes are part of the name. */
const unescaped = (escape: string): string => {
  const code = escape.slice(1);
  const octal = new Map([
    ['052', '*'],
    ['055', '-'],
    ['137', '_'],
  ]).get(code);
  const letter = octal ?? (code.length === 3 ? String.fromCharCode(Number(code)) : code);
  return /^[A-Za-z0-9_*-]$/.test(letter) ? letter : escape;
};

/** The number of a parked record is its whole first label after the prefix. */
export const isParkedName = (name: string): boolean => {
  const [label = ''] = name.split('.');
  const number = label.startsWith('_parked-') ? label.slice('_parked-'.length) : '';
  return /^[0-9]+$/.test(number);
};

/** What a name can have but one text of (RFC 7208 §4.5, 7489 §6.3, 6376 §3.6.1, 8461 §3.1, 8460 §3); null for free text. */
export const textKind = (name: string, text: string): string | null => {
  const plain = text.replaceAll('"', '').replaceAll('\\', '').trim();
  const tags = plain.split(';').map((tag) => tag.trim().split(/\s*=\s*/));
  const word = tags[0]?.[0]?.toLowerCase() === 'v' ? (tags[0]?.[1]?.split(/\s/)[0]?.toLowerCase() ?? '') : '';
  const labels = name.split('.');
  if (word === 'spf1') return word;
  if (labels.includes('_domainkey')) return tags.some(([tag]) => tag?.toLowerCase() === 'p') ? 'dkim1' : null;
  if (word === 'dmarc1' && labels[0] === '_dmarc') return word;
  if (word === 'stsv1' && labels[0] === '_mta-sts') return word;
  if (word === 'tlsrptv1' && labels[0] === '_smtp' && labels[1] === '_tls') return word;
  return word === 'bimi1' && labels.includes('_bimi') ? word : null;
};

const canonicalContent = (type: string, content: string): string => {
  switch (type) {
    case 'AAAA':
      return canonicalAddress(content);
    case 'CNAME':
    case 'MX':
    case 'PTR':
      return canonicalHost(content);
    case 'SRV': {
      const parts = /^\s*(\d{1,10})\s+(\d{1,10})\s+(\S+)\s*$/.exec(content);
      return parts ? `${Number(parts[1])} ${Number(parts[2])} ${canonicalHost(parts[3]!)}` : content;
    }
    case 'TXT':
      return presentedText(content) ?? content;
    default:
      return content;
  }
};

/** RFC 5952: how URLs are written, but for mapped addresses (§5). A zone is no part of an address in the DNS. */
const canonicalAddress = (content: string): string => {
  if (!isIPv6(content) || content.includes('%')) return content;
  const address = new URL(`http://[${content}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(address);
  if (!mapped) return address;
  const octets = mapped.slice(1).flatMap((part) => {
    const group = Number.parseInt(part, 16);
    return [Math.floor(group / 256), group % 256];
  });
  return `::ffff:${octets.join('.')}`;
};

/** RFC 1035 §5.1: a final dot ends an absolute name. An empty label before it is no name, and stays as it is. */
const canonicalHost = (host: string): string => {
  const labels = canonicalLabels(host);
  const [before, last] = labels.split('.').slice(-2);
  return last === '' && before !== '' ? labels.slice(0, -1) : labels;
};

/** RFC 4343: ASCII case is ignored. UTS 46 for everything else, as in browsers. */
const canonicalLabels = (name: string): string =>
  isAscii(name) ? name.toLowerCase() : name.split('.').map(canonicalLabel).join('.');

const isAscii = (text: string): boolean => /^\p{ASCII}*$/u.test(text);

const canonicalLabel = (label: string): string => {
  if (isAscii(label)) return label.toLowerCase();
  if (/[\p{Cc} "#%/:<>?@[\\\]^`{|}]/u.test(label)) return label;
  const url = parseUrl(`http://${label}.x`);
  return url?.hostname.endsWith('.x') && url.hostname.length > 2 ? url.hostname.slice(0, -2) : label;
};

/** RFC 1035 §5.1: quoted strings one after the other, which are one text. Null where it is not written so. */
const presentedText = (content: string): string | null => {
  if (!content.startsWith('"')) return null;
  const octets: number[] = [];
  let isInside = false;
  for (let rest = content; rest !== '';) {
    const [sign = ''] = rest;
    const escaped = isInside && sign === '\\' ? /^\\(?:(\d{3})|\D)/su.exec(rest) : null;
    if (isInside && sign === '\\' && (escaped === null || Number(escaped[1] ?? 0) > 255)) return null;
    if (sign === '"') isInside = !isInside;
    else if (!isInside && sign !== ' ' && sign !== '\t') return null;
    else if (escaped?.[1]) octets.push(Number(escaped[1]));
    else if (isInside) octets.push(...Buffer.from(escaped ? escaped[0].slice(1) : sign));
    rest = rest.slice((escaped?.[0] ?? sign).length);
  }
  return isInside ? null : decoded(octets);
};

const decoded = (octets: readonly number[]): string | null => {
  const text = Buffer.from(octets).toString('utf8');
  return Buffer.from(text).equals(Buffer.from(octets)) ? text : null;
};
