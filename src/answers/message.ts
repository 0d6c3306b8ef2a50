import { encode, RECURSION_DESIRED } from 'dns-packet';
import { canonicalHost } from '../model/host.ts';
import { internet, numberOf, readRecord, type AnswerRecord, type AskedType } from './answer-record.ts';
import { MessageReader } from './message-reader.ts';

/** The name in lower case and A-labels, without a final dot. */
export interface DnsQuestion {
  readonly name: string;
  readonly type: AskedType;
}

export interface DnsReply {
  readonly rcode: string;
  readonly isAuthoritative: boolean;
  /** It did not fit, and has no records here. */
  readonly isTruncated: boolean;
  /** Whether the server knows EDNS. */
  readonly hasEdns: boolean;
  readonly answers: readonly AnswerRecord[];
  readonly authorities: readonly AnswerRecord[];
  readonly additionals: readonly AnswerRecord[];
}

export interface QueryOptions {
  readonly isRecursive: boolean;
  /** Bytes of the largest packet that is accepted; null without EDNS (RFC 6891 §7). */
  readonly payload: number | null;
}

/** Fits into a packet that is not fragmented (DNS flag day 2020). */
export const safePayload = 1_232;
/** For servers that do not answer over TCP. */
export const largePayload = 4_096;

/** Bytes of the largest reply that a server may send in one packet (RFC 1035 §4.2.1, RFC 6891 §6.2.5). */
export const roomFor = ({ payload }: QueryOptions): number => payload ?? 512;

export const encodeQuery = (
  id: number,
  { name, type }: DnsQuestion,
  { isRecursive, payload }: QueryOptions,
): Buffer =>
  encode({
    type: 'query',
    id,
    flags: isRecursive ? RECURSION_DESIRED : 0,
    questions: [{ name, type }],
    additionals:
      payload === null
        ? []
        : [
            {
              type: 'OPT',
              name: '.',
              udpPayloadSize: payload,
              extendedRcode: 0,
              ednsVersion: 0,
              flags: 0,
              flag_do: false,
              options: [],
            },
          ],
  });

/** Null if it is not a reply to this question: forged, malformed, or to another question. */
export const readReply = (message: Buffer, id: number, question: DnsQuestion): DnsReply | null => {
  try {
    return replyIn(new MessageReader(message), id, question);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};

const replyIn = (reader: MessageReader, id: number, { name, type }: DnsQuestion): DnsReply | null => {
  if (reader.number16() !== id) return null;
  const flags = reader.number16();
  if ((flags & isReply) === 0) return null;
  const [questions, ...counts] = Array.from({ length: 4 }, () => reader.number16());
  const code = flags & 0x0f;
  const isTruncated = (flags & wasTruncated) !== 0;
  const base = { isAuthoritative: (flags & hasAuthority) !== 0, isTruncated };
  // A server that cannot parse a query may answer with the header alone.
  if (questions === 0 && code === formatError) return { ...base, ...nothing, rcode: rcodeOf(code) };
  if (questions !== 1 || canonicalHost(reader.name()) !== name) return null;
  if (reader.number16() !== numberOf(type) || reader.number16() !== internet) return null;
  if (isTruncated) return { ...base, ...nothing, rcode: rcodeOf(code) };
  let extended: number | null = null;
  const [answers = [], authorities = [], additionals = []] = counts.map((count) => {
    const records: AnswerRecord[] = [];
    for (let left = count; left > 0; left -= 1) {
      const one = readRecord(reader);
      if (one === null) continue;
      if ('extendedCode' in one) extended = one.extendedCode;
      else records.push(one);
    }
    return records;
  });
  const rcode = rcodeOf(((extended ?? 0) << 4) | code);
  return { ...base, rcode, hasEdns: extended !== null, answers, authorities, additionals };
};

const isReply = 0x80_00;
const hasAuthority = 0x04_00;
const wasTruncated = 0x02_00;
const formatError = 1;
const nothing = { hasEdns: false, answers: [], authorities: [], additionals: [] };

const rcodeOf = (code: number): string => rcodes[code] ?? (code === 16 ? 'BADVERS' : `RCODE${code}`);

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
