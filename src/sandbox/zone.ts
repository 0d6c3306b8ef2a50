import { isIPv4, isIPv6 } from 'node:net';
import { encode, type Answer } from 'dns-packet';
import type { StoredRecord } from './data.ts';
import { parseUrl } from '../lib/parse-url.ts';

/** The records of a subdomain as a zone: absolute names, and only what DNS can represent. */
export interface Zone {
  readonly apex: string;
  readonly soa: Answer;
  /** By name in lower case. */
  readonly records: ReadonlyMap<string, readonly Answer[]>;
}

export const zoneOf = (subdomain: string, dnsRecords: readonly StoredRecord[], serial: number): Zone => {
  const apex = asciiName(subdomain);
  const records = new Map<string, Answer[]>();
  for (const record of dnsRecords) {
    const answer = answerOf(record, apex);
    if (answer === null || !canBeSent(answer)) continue;
    const name = answer.name.toLowerCase();
    records.set(name, [...(records.get(name) ?? []), answer]);
  }
  return { apex, soa: soaOf(apex, dnsRecords, serial), records };
};

/** The serial before any change. */
export const firstSerial = (dnsRecords: readonly StoredRecord[]): number =>
  Number(soaParts(dnsRecords)[2] ?? 1) || 1;

/**
 * The name whose records answer: the name itself, or the wildcard below its closest encloser; null: no such
 * name.
 */
export const ownerOf = ({ apex, records }: Zone, name: string): string | null => {
  const exists = (one: string): boolean =>
    one === apex || records.has(one) || [...records.keys()].some((owner) => owner.endsWith(`.${one}`));
  if (exists(name)) return name;
  let encloser = name.slice(name.indexOf('.') + 1);
  while (!exists(encloser)) encloser = encloser.slice(encloser.indexOf('.') + 1);
  return records.has(`*.${encloser}`) ? `*.${encloser}` : null;
};

const soaParts = (dnsRecords: readonly StoredRecord[]): string[] =>
  dnsRecords.find(({ type }) => type === 'SOA')?.content.split(' ') ?? [];

const soaOf = (apex: string, dnsRecords: readonly StoredRecord[], serial: number): Answer => {
  const [mname = `ns1.${apex}`, rname = `hostmaster.${apex}`, , ...numbers] = soaParts(dnsRecords);
  const [refresh = 10_800, retry = 3_600, expire = 604_800, minimum = 3_600] = numbers.map(Number);
  return {
    type: 'SOA',
    name: apex,
    ttl: 3_600,
    data: { mname, rname, serial, refresh, retry, expire, minimum },
  };
};

const answerOf = ({ type, name, content, priority, ttl }: StoredRecord, apex: string): Answer | null => {
  const common = { name: absolute(name, apex), ttl };
  switch (type.toUpperCase()) {
    case 'A':
      return isIPv4(content) ? { ...common, type: 'A', data: content } : null;
    case 'AAAA':
      return isIPv6(content) ? { ...common, type: 'AAAA', data: content } : null;
    case 'CNAME':
      return { ...common, type: 'CNAME', data: asciiName(content) };
    case 'NS':
      return { ...common, type: 'NS', data: asciiName(content) };
    case 'PTR':
      return { ...common, type: 'PTR', data: asciiName(content) };
    case 'MX':
      return { ...common, type: 'MX', data: { preference: priority ?? 0, exchange: asciiName(content) } };
    case 'SRV': {
      const [weight = '0', port = '0', target = '.'] = content.split(/\s+/);
      const data = {
        priority: priority ?? 0,
        weight: Number(weight),
        port: Number(port),
        target: asciiName(target),
      };
      return { ...common, type: 'SRV', data };
    }
    case 'TXT':
      return { ...common, type: 'TXT', data: stringsOf(content) };
    default:
      return null;
  }
};

const absolute = (name: string | null, apex: string): string => {
  const plain = name === null || name === '@' ? '' : asciiName(name);
  if (plain === '') return apex;
  return plain === apex || plain.endsWith(`.${apex}`) ? plain : `${plain}.${apex}`;
};

/** Converts to A-labels, if possible. */
const asciiName = (name: string): string =>
  name
    .replace(/(?<=[^.])\.$/, '')
    .split('.')
    .map((label) => (/[^\x00-\x7f]/.test(label) ? hostOf(label) : label.toLowerCase()))
    .join('.');

const hostOf = (label: string): string =>
  parseUrl(`http://${label}.x/`)?.hostname.slice(0, -'.x'.length) ?? label;

/** Parses presentation format if it is quoted, else takes it literally; strings of at most 255 octets. */
const stringsOf = (content: string): Buffer[] => {
  const parts = [...content.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(([, text = '']) =>
    text.replaceAll(/\\(.)/gs, '$1'),
  );
  const octets = Buffer.from(content.startsWith('"') && parts.length > 0 ? parts.join('') : content);
  const count = Math.max(1, Math.ceil(octets.length / 255));
  return Array.from({ length: count }, (_, index) => octets.subarray(255 * index, 255 * (index + 1)));
};

/** Stored records may have labels that are too long, or invalid numbers. */
const canBeSent = (answer: Answer): boolean => {
  const names = [answer.name, ...('data' in answer && typeof answer.data === 'string' ? [answer.data] : [])];
  if (names.some((name) => name.split('.').some((label) => Buffer.byteLength(label) > 63))) return false;
  try {
    return encode({ type: 'response', answers: [answer] }).length > 0;
  } catch {
    return false;
  }
};
