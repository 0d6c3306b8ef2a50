import type { Answer } from 'dns-packet';
import { canonicalContent } from '../model/canonical.ts';
import { canonicalHost } from '../model/host.ts';

/** The types that are queried: those of template records, and NS and SOA. */
export const askedTypes = ['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'SRV', 'TXT', 'NS', 'SOA'] as const;
export type AskedType = (typeof askedTypes)[number];

/** A record of a DNS message, with canonical content. */
export interface AnswerRecord {
  readonly name: string;
  readonly type: AskedType;
  readonly content: string;
  readonly priority: number | null;
  readonly ttl: number;
  /** Of SOA records only. */
  readonly serial: number | null;
}

/** The records of the queried types. */
export const recordsIn = (answers: readonly Answer[] = []): AnswerRecord[] =>
  answers.flatMap((one) => readRecord(one) ?? []);

const readRecord = (answer: Answer): AnswerRecord | null => {
  const data = dataIn(answer);
  if (data === null) return null;
  const { type, priority = null, serial = null, ttl = 0 } = data;
  const content = canonicalData(type, data.content);
  return { name: canonicalHost(answer.name), type, content, priority, ttl, serial };
};

/** The model has no NS, since template records have none. */
export const canonicalData = (type: string, content: string): string =>
  type === 'NS' ? canonicalHost(content) : canonicalContent(type, content);

interface ReadData {
  readonly type: AskedType;
  readonly ttl?: number | undefined;
  readonly content: string;
  readonly priority?: number;
  readonly serial?: number;
}

const dataIn = (answer: Answer): ReadData | null => {
  if (answer.type === 'OPT') return null;
  const { ttl } = answer;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- of all others nothing is known
  switch (answer.type) {
    case 'A':
    case 'AAAA':
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return { type: answer.type, ttl, content: answer.data };
    case 'MX':
      return { type: 'MX', ttl, content: answer.data.exchange, priority: answer.data.preference ?? 0 };
    case 'SRV': {
      const { priority = 0, weight = 0, port, target } = answer.data;
      return { type: 'SRV', ttl, content: `${weight} ${port} ${target}`, priority };
    }
    case 'TXT':
      return { type: 'TXT', ttl, content: textOf(answer.data) };
    case 'SOA':
      return { type: 'SOA', ttl, content: answer.data.mname, serial: answer.data.serial ?? 0 };
    default:
      return null;
  }
};

/** Like `canonicalContent`: the strings joined and read as UTF-8; in presentation format if they are not UTF-8. */
const textOf = (data: string | Buffer | readonly (string | Buffer)[]): string => {
  const parts: readonly (string | Buffer)[] =
    typeof data === 'string' || Buffer.isBuffer(data) ? [data] : data;
  const octets = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  try {
    const text = utf8.decode(octets);
    // A text that starts with a quotation mark would be read as presentation format.
    return text.startsWith('"') ? quoted(octets) : text;
  } catch {
    return quoted(octets);
  }
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const quoted = (octets: Buffer): string =>
  `"${[...octets].map((octet) => (isPlain(octet) ? String.fromCharCode(octet) : `\\${String(octet).padStart(3, '0')}`)).join('')}"`;

const isPlain = (octet: number): boolean => octet >= 0x20 && octet < 0x7f && octet !== 0x22 && octet !== 0x5c;
