import { limit } from '../lib/limit.ts';
import type { DnsQuestion, DnsReply, QueryOptions } from './message.ts';
import { askOverTcp } from './tcp.ts';
import { UdpExchange } from './udp.ts';

/** Where a server listens, by its address. */
export interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

/** How servers are asked. */
export interface AskOptions {
  /** Milliseconds that one question may take in all. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** One server that is asked, until it gives no reply: to ask it again would take as long again. */
export interface DnsServer {
  /** Null without a reply. */
  ask(question: DnsQuestion): Promise<DnsReply | null>;
  close(): void;
}

/** Null where there is no route to it. */
export const openDnsServer = async (
  place: ServerAddress,
  isRecursive: boolean,
  { timeout, signal }: AskOptions,
): Promise<DnsServer | null> => {
  const udp = await UdpExchange.open(place.address, place.port);
  if (udp === null) return null;
  const limited = limit(questionsAtOnce);
  const tcpLimited = limit(connectionsAtOnce);
  const pauses = shares.map((share) => Math.max(1, Math.round(timeout * share)));
  const given = new AbortController();
  let hasEdns = true;
  let dropsPackets = false;
  let lost = 0;

  /** Servers that limit the rate of their answers drop packets, and take connections (RFC 7766 §1). */
  const exchange = async (question: DnsQuestion, options: QueryOptions): Promise<DnsReply | null> => {
    const deadline = AbortSignal.any([given.signal, AbortSignal.timeout(timeout)]);
    const first = dropsPackets ? null : await udp.ask(question, options, pauses, deadline);
    if (first?.isTruncated === false) return first;
    const reply = await tcpLimited(() => askOverTcp(place, question, options, deadline));
    dropsPackets ||= first === null && reply !== null;
    return reply;
  };
  const ask = async (question: DnsQuestion): Promise<DnsReply | null> => {
    if (given.signal.aborted) return null;
    const reply = await exchange(question, { isRecursive, hasEdns });
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

/** In flight to one server: what the buffers of its socket and of ours hold. */
const questionsAtOnce = 48;
const connectionsAtOnce = 4;

/** Of the timeout: how long each packet is waited for. The rest is for a connection. */
const shares = [0.2, 0.3];

/** Questions in a row: a resolver that is silent about one zone, since that has no servers, may answer for others. */
const maxUnanswered = 16;

/** What servers say that do not know EDNS. */
const withoutEdns: ReadonlySet<string> = new Set(['FORMERR', 'NOTIMP']);
