import { limit } from '../lib/limit.ts';
import type { DnsQuestion, DnsReply, QueryOptions } from './message.ts';
import { askOverTcp } from './tcp.ts';
import { UdpClient } from './udp.ts';

/** The address and port of a server. */
export interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

/** How to query servers. */
export interface AskOptions {
  /** Milliseconds for one question in all. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** One server. After a question without a reply it is not asked again, since that would take as long again. */
export interface DnsServer {
  /** Null without a reply. */
  ask(question: DnsQuestion): Promise<DnsReply | null>;
  close(): void;
}

/** Null if there is no route to it. */
export const openDnsServer = async (
  place: ServerAddress,
  isRecursive: boolean,
  { timeout, signal }: AskOptions,
): Promise<DnsServer | null> => {
  const udp = await UdpClient.open(place.address, place.port);
  if (udp === null) return null;
  const limited = limit(questionsAtOnce);
  const tcpLimited = limit(connectionsAtOnce);
  const pauses = shares.map((share) => Math.max(1, Math.round(timeout * share)));
  const given = new AbortController();
  let hasEdns = true;
  let dropsPackets = false;
  let lost = 0;

  /** Servers with rate limits drop packets but accept connections (RFC 7766 §1). */
  const askWithRetries = async (question: DnsQuestion, options: QueryOptions): Promise<DnsReply | null> => {
    const deadline = AbortSignal.any([given.signal, AbortSignal.timeout(timeout)]);
    const first = dropsPackets ? null : await udp.ask(question, options, pauses, deadline);
    if (first?.isTruncated === false) return first;
    const reply = await tcpLimited(() => askOverTcp(place, question, options, deadline));
    dropsPackets ||= first === null && reply !== null;
    return reply;
  };
  const ask = async (question: DnsQuestion): Promise<DnsReply | null> => {
    if (given.signal.aborted) return null;
    const reply = await askWithRetries(question, { isRecursive, hasEdns });
    if (hasEdns && reply !== null && withoutEdns.has(reply.rcode)) {
      hasEdns = false;
      return ask(question);
    }
    lost = reply === null ? lost + 1 : 0;
    if (lost >= (isRecursive ? maxUnanswered : 1)) give();
    return reply;
  };
  const give = (): void => given.abort();
  signal.addEventListener('abort', give);
  return {
    ask: (question) => limited(() => ask(question)),
    close: () => {
      signal.removeEventListener('abort', give);
      given.abort();
      udp.close();
    },
  };
};

/** Questions in flight to one server: as many as socket buffers hold. */
const questionsAtOnce = 48;
const connectionsAtOnce = 4;

/** The share of the timeout for each packet. The rest is for a TCP connection. */
const shares = [0.2, 0.3];

/**
 * Unanswered questions in a row. A resolver that does not answer for one zone, whose servers are down, may
 * answer for others.
 */
const maxUnanswered = 16;

/** Answers of servers that do not support EDNS. */
const withoutEdns: ReadonlySet<string> = new Set(['FORMERR', 'NOTIMP']);
