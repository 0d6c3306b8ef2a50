import type { DnsServer } from './dns-server.ts';
import type { DnsQuestion, DnsReply } from './message.ts';

/** What keeps a reply from being an answer. */
export interface ReplyFault {
  readonly status: 'silent' | 'refused' | 'lame';
  readonly message: string;
}

/** Why a reply cannot be taken for an answer; null where it can. */
export const faultOf = (reply: DnsReply | null, name: string): ReplyFault | null => {
  if (reply === null) return { status: 'silent', message: 'it does not answer' };
  if (reply.rcode === 'REFUSED') return { status: 'refused', message: `it refuses the question for ${name}` };
  if (!isAnswer(reply))
    return { status: 'lame', message: `it answers ${reply.rcode} to the question for ${name}` };
  return reply.isAuthoritative
    ? null
    : { status: 'lame', message: `it answers without authority to the question for ${name}` };
};

const isAnswer = ({ rcode }: DnsReply): boolean => rcode === 'NOERROR' || rcode === 'NXDOMAIN';

/** A server that serves the zone, and then does not answer a question about it. */
export class ReadError extends Error {
  readonly status: ReplyFault['status'];

  constructor({ status, message }: ReplyFault) {
    super(message);
    this.status = status;
  }
}

/** A name that is delegated away is answered without authority: nothing of that counts. Throws a `ReadError`. */
export const answerTo = async (server: DnsServer, question: DnsQuestion): Promise<DnsReply> => {
  const reply = await server.ask(question);
  if (reply !== null && !reply.isAuthoritative && isAnswer(reply)) return { ...reply, answers: [] };
  const fault = faultOf(reply, `${question.name} ${question.type}`);
  if (fault !== null) throw new ReadError(fault);
  return reply!;
};
