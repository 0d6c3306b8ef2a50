import type { DnsServer } from './dns-server.ts';
import type { DnsQuestion, DnsReply } from './message.ts';

/** Why a reply is not an answer. */
export interface ReplyError {
  readonly status: 'silent' | 'refused' | 'lame';
  readonly message: string;
}

/** Why a server's reply is not an answer; null if it is one. */
export const errorOf = (server: DnsServer, reply: DnsReply | null, name: string): ReplyError | null => {
  if (reply === null) {
    const about = server.isSilent() ? '' : ` the question for ${name}`;
    return { status: 'silent', message: `it does not answer${about}` };
  }
  if (reply.isTruncated)
    return {
      status: 'silent',
      message: `its answer to the question for ${name} is too long for a packet, and it does not answer over TCP`,
    };
  if (reply.rcode === 'REFUSED') return { status: 'refused', message: `it refuses the question for ${name}` };
  if (!isAnswer(reply))
    return { status: 'lame', message: `it answers ${reply.rcode} to the question for ${name}` };
  return reply.isAuthoritative
    ? null
    : { status: 'lame', message: `it answers without authority to the question for ${name}` };
};

const isAnswer = ({ rcode }: DnsReply): boolean => rcode === 'NOERROR' || rcode === 'NXDOMAIN';

/** A server that has the zone does not answer a question about it. */
export class ReadError extends Error {
  readonly status: ReplyError['status'];

  constructor({ status, message }: ReplyError) {
    super(message);
    this.status = status;
  }
}

/**
 * The answer to a question. Of non-authoritative replies only referrals count, which have the name servers of a
 * delegated name and their addresses (RFC 1034 §4.3.2). Throws a `ReadError`.
 */
export const answerTo = async (server: DnsServer, question: DnsQuestion): Promise<DnsReply> => {
  const reply = await server.ask(question);
  if (reply !== null && !reply.isTruncated && !reply.isAuthoritative && isAnswer(reply)) {
    const { answers, authorities, additionals } = reply;
    const servers = authorities.filter(({ type }) => type === 'NS');
    return { ...reply, answers: answers.length > 0 ? [] : [...servers, ...additionals] };
  }
  const error = errorOf(server, reply, `${question.name} ${question.type}`);
  if (error !== null) throw new ReadError(error);
  return reply!;
};
