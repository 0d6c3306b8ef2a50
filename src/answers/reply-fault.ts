import type { DnsServer } from './dns-server.ts';
import type { DnsQuestion, DnsReply } from './message.ts';

/** Why a reply is not an answer. */
export interface ReplyError {
  readonly status: 'silent' | 'refused' | 'lame';
  readonly message: string;
}

/** Why a reply is not an answer; null if it is one. */
export const errorOf = (reply: DnsReply | null, name: string): ReplyError | null => {
  if (reply === null) return { status: 'silent', message: 'it does not answer' };
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

/** The answer to a question. Non-authoritative answers, for delegated names, are ignored. Throws a `ReadError`. */
export const answerTo = async (server: DnsServer, question: DnsQuestion): Promise<DnsReply> => {
  const reply = await server.ask(question);
  if (reply !== null && !reply.isAuthoritative && isAnswer(reply)) return { ...reply, answers: [] };
  const error = errorOf(reply, `${question.name} ${question.type}`);
  if (error !== null) throw new ReadError(error);
  return reply!;
};
