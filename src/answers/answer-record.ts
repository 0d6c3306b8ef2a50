import { canonicalContent } from '../model/canonical.ts';
import { canonicalHost } from '../model/host.ts';
import { quoteOctets } from '../model/quoted-text.ts';
import type { MessageReader } from './message-reader.ts';

/** The types that are queried: those of template records, and NS and SOA; with their numbers. */
const numbers = { A: 1, AAAA: 28, CNAME: 5, MX: 15, PTR: 12, SRV: 33, TXT: 16, NS: 2, SOA: 6 } as const;
export type AskedType = keyof typeof numbers;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the object above
export const askedTypes = Object.keys(numbers) as readonly AskedType[];
const typeOf: ReadonlyMap<number, AskedType> = new Map(askedTypes.map((type) => [numbers[type], type]));

export const numberOf = (type: AskedType): number => numbers[type];

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

/** The OPT record of a message (RFC 6891 §6.1.3). */
export interface Edns {
  /** The upper bits of the response code. */
  readonly extendedCode: number;
}

/** The next record of a message; null if it is of another type. */
export const readRecord = (reader: MessageReader): AnswerRecord | Edns | null => {
  const owner = reader.name();
  const number = reader.number16();
  const dnsClass = reader.number16();
  const ttl = reader.number32();
  const type = typeOf.get(number);
  return reader.part(reader.number16(), (end) => {
    if (number === optNumber) return { extendedCode: ttl >>> 24 };
    if (type === undefined || dnsClass !== internet) return null;
    const { content, priority = null, serial = null } = readData[type](reader, end);
    return { name: canonicalHost(owner), type, content: canonicalData(type, content), priority, ttl, serial };
  });
};

export const internet = 1;
const optNumber = 41;

/** The model has no NS, since template records have none. */
export const canonicalData = (type: string, content: string): string =>
  type === 'NS' ? canonicalHost(content) : canonicalContent(type, content);

interface AnswerData {
  readonly content: string;
  readonly priority?: number;
  readonly serial?: number;
}

const nameData = (reader: MessageReader): AnswerData => ({ content: reader.name() });

const readData: Record<AskedType, (reader: MessageReader, end: number) => AnswerData> = {
  A: (reader) => ({ content: [...reader.octets(4)].join('.') }),
  AAAA: (reader) => ({
    content: Array.from({ length: 8 }, () => reader.number16().toString(16)).join(':'),
  }),
  CNAME: nameData,
  NS: nameData,
  PTR: nameData,
  MX: (reader) => ({ priority: reader.number16(), content: reader.name() }),
  SRV: (reader) => ({
    priority: reader.number16(),
    content: `${reader.number16()} ${reader.number16()} ${reader.name()}`,
  }),
  TXT: (reader, end) => {
    const strings: Buffer[] = [];
    while (reader.isBefore(end)) strings.push(reader.octets(reader.number8()));
    return { content: textOf(Buffer.concat(strings)) };
  },
  SOA: (reader) => {
    const content = reader.name();
    reader.name();
    return { content, serial: reader.number32() };
  },
};

/** Like `canonicalContent`: the strings joined and read as UTF-8; in presentation format if they are not UTF-8. */
const textOf = (octets: Buffer): string => {
  try {
    const text = utf8.decode(octets);
    // A text that starts with a quotation mark would be read as presentation format.
    return text.startsWith('"') ? quoteOctets(octets) : text;
  } catch {
    return quoteOctets(octets);
  }
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
