import { decode, encode, type Answer, type DecodedPacket, RECURSION_DESIRED } from 'dns-packet';
import { canonicalContent } from '../model/canonical.ts';
import { canonicalHost } from '../model/host.ts';

/** The types that are asked for: those of template records, and what every zone has. */
export const askedTypes = ['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'SRV', 'TXT', 'NS', 'SOA'] as const;
export type AskedType = (typeof askedTypes)[number];

/** The name in lower case, of A-labels, without a dot at its end. */
export interface DnsQuestion {
  readonly name: string;
  readonly type: AskedType;
}

/** A record out of a DNS message, its content in canonical form. */
export interface AnswerRecord {
  readonly name: string;
  readonly type: AskedType;
  readonly content: string;
  readonly priority: number | null;
  readonly ttl: number;
  /** Of a SOA record alone. */
  readonly serial: number | null;
}

export interface DnsReply {
  readonly rcode: string;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly answers: readonly AnswerRecord[];
  readonly authorities: readonly AnswerRecord[];
}

export interface QueryOptions {
  readonly isRecursive: boolean;
  /** False for servers that do not understand EDNS (RFC 6891 §7). */
  readonly hasEdns: boolean;
}

/** Fits into a packet that no network on the way divides (DNS flag day 2020). */
const payloadSize = 1_232;

export const encodeQuery = (
  id: number,
  { name, type }: DnsQuestion,
  { isRecursive, hasEdns }: QueryOptions,
): Buffer =>
  encode({
    type: 'query',
    id,
    flags: isRecursive ? RECURSION_DESIRED : 0,
    questions: [{ name, type }],
    additionals: hasEdns
      ? [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: payloadSize,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ]
      : [],
  });

/** Null for what is no reply to this question: forged, broken, or an answer to another one. */
export const readReply = (message: Buffer, id: number, question: DnsQuestion): DnsReply | null => {
  if (message.length < headerSize || message.readUInt16BE(0) !== id) return null;
  const packet = decodeSafely(message);
  if (packet?.type !== 'response' || !isAbout(packet, question)) return null;
  const code = message.readUInt8(3) & 0x0f;
  return {
    rcode: rcodes[code] ?? `RCODE${code}`,
    isAuthoritative: packet.flag_aa,
    isTruncated: packet.flag_tc,
    answers: recordsIn(packet.answers),
    authorities: recordsIn(packet.authorities),
  };
};

const headerSize = 12;

const rcodes = [
  'NOERROR',
  'FORMERR',
  'SERVFAIL',
  'NXDOMAIN',
  'NOTIMP',
  'REFUSED',
  'YXDOMAIN',
  'YXRRSET',
  'NXRRSET',
  'NOTAUTH',
];

const decodeSafely = (message: Buffer): DecodedPacket | null => {
  try {
    return decode(message);
  } catch {
    return null;
  }
};

const isAbout = ({ questions = [] }: DecodedPacket, { name, type }: DnsQuestion): boolean => {
  const [question] = questions;
  return (
    questions.length === 1 &&
    question?.type === type &&
    (question.class ?? 'IN') === 'IN' &&
    canonicalHost(question.name) === name
  );
};

const recordsIn = (answers: readonly Answer[] = []): AnswerRecord[] =>
  answers.flatMap((one) => readRecord(one) ?? []);

const readRecord = (answer: Answer): AnswerRecord | null => {
  const data = dataIn(answer);
  if (data === null) return null;
  const { type, priority = null, serial = null, ttl = 0 } = data;
  const content = canonicalData(type, data.content);
  return { name: canonicalHost(answer.name), type, content, priority, ttl, serial };
};

/** Template records have no NS, so that the model does not know it. */
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

/** As `canonicalContent` has it: the strings joined, read as UTF-8; in presentation format where they are none. */
const textOf = (data: string | Buffer | readonly (string | Buffer)[]): string => {
  const parts: readonly (string | Buffer)[] =
    typeof data === 'string' || Buffer.isBuffer(data) ? [data] : data;
  const octets = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  try {
    const text = utf8.decode(octets);
    // A text that begins with a quotation mark would be taken for presentation format.
    return text.startsWith('"') ? quoted(octets) : text;
  } catch {
    return quoted(octets);
  }
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const quoted = (octets: Buffer): string =>
  `"${[...octets].map((octet) => (isPlain(octet) ? String.fromCharCode(octet) : `\\${String(octet).padStart(3, '0')}`)).join('')}"`;

const isPlain = (octet: number): boolean => octet >= 0x20 && octet < 0x7f && octet !== 0x22 && octet !== 0x5c;
