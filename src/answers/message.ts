import { decode, encode, type DecodedPacket, RECURSION_DESIRED } from 'dns-packet';
import { canonicalHost } from '../model/host.ts';
import { recordsIn, type AnswerRecord, type AskedType } from './answer-record.ts';

/** The name in lower case and A-labels, without a final dot. */
export interface DnsQuestion {
  readonly name: string;
  readonly type: AskedType;
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

/** Fits into a packet that is not fragmented (DNS flag day 2020). */
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

/** Null if it is not a reply to this question: forged, malformed, or to another question. */
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
