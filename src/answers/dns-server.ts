import { setMaxListeners } from 'node:events';
import { withDeadline, sleep } from '../lib/sleep.ts';
import { limit } from '../lib/limit.ts';
import { largePayload, safePayload, type DnsQuestion, type DnsReply, type QueryOptions } from './message.ts';
import { askOverTcp } from './tcp.ts';
import { UdpClient, type SentPacket } from './udp.ts';

/** The address and port of a server. */
export interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

/** How to query servers. */
export interface AskOptions {
  /** Milliseconds for one question, without its repetitions. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * One server. One that is silent is not asked again, since that would take as long again; a server that has
 * answered meanwhile is not silent, whatever was lost.
 */
export interface DnsServer {
  /** Null without a reply. */
  ask(question: DnsQuestion): Promise<DnsReply | null>;
  /** Whether it was given up. */
  isSilent(): boolean;
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
  const given = new AbortController();
  setMaxListeners(0, given.signal);
  const share = (part: number): number => Math.max(1, Math.round(timeout * part));
  let edns: 'unknown' | 'known' | 'none' = 'unknown';
  let dropsPackets = false;
  let heard = 0;
  const optionsWith = (payload: number | null): QueryOptions => ({ isRecursive, payload });
  const usual = (): QueryOptions => optionsWith(edns === 'none' ? null : safePayload);
  /** Some servers never answer a query with EDNS, so every other packet has none until one is answered. */
  const packets = (): SentPacket[] =>
    packetShares.map((part, index) => ({
      options: edns === 'unknown' && index % 2 === 1 ? optionsWith(null) : usual(),
      patience: share(part),
    }));

  /** Servers with rate limits drop packets but accept connections (RFC 7766 §1); others do not accept any. */
  const askOnce = async (question: DnsQuestion, deadline: AbortSignal): Promise<DnsReply | null> => {
    const first = dropsPackets ? null : await udp.ask(question, packets(), deadline);
    if (first?.isTruncated === false) return first;
    const reply = await tcpLimited(() =>
      withDeadline(share(tcpShare), deadline, (tcp) => askOverTcp(place, question, usual(), tcp)),
    );
    dropsPackets ||= first === null && reply !== null;
    if (reply !== null || first === null) return reply;
    const large = { options: optionsWith(largePayload), patience: timeout };
    return (await udp.ask(question, [large], deadline)) ?? first;
  };
  const ask = async (question: DnsQuestion): Promise<DnsReply | null> => {
    for (let attempt = 1; !given.signal.aborted; attempt += 1) {
      const [before, askedWith] = [heard, edns];
      const reply = await withDeadline(timeout, given.signal, (deadline) => askOnce(question, deadline));
      if (reply !== null) {
        heard += 1;
        if (askedWith !== 'none' && withoutEdns.has(reply.rcode)) {
          edns = 'none';
          continue;
        }
        if (edns === 'unknown' && !reply.isTruncated) edns = reply.hasEdns ? 'known' : 'none';
        if (reply.rcode !== 'SERVFAIL' || attempt >= maxAttempts) return reply;
        await sleep(share(pauseShare), given.signal);
      } else if (heard === before && (!isRecursive || (await isDead()))) given.abort();
      else if (isRecursive || attempt >= maxAttempts) return null;
    }
    return null;
  };
  /** A resolver is silent about a zone whose servers are down, but never about the root. */
  const isDead = async (): Promise<boolean> =>
    (await withDeadline(timeout, given.signal, (deadline) =>
      askOnce({ name: '.', type: 'NS' }, deadline),
    )) === null;
  const give = (): void => given.abort();
  signal.addEventListener('abort', give);
  return {
    ask: (question) => limited(() => ask(question)),
    isSilent: () => given.signal.aborted,
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
const packetShares = [0.1, 0.15, 0.15, 0.2];
const tcpShare = 0.5;
/** The share of the timeout between a server's failure and the next attempt. */
const pauseShare = 0.02;

/** For a question that was lost, or that the server failed to answer, while it answered others. */
const maxAttempts = 3;

/** Answers of servers that do not support EDNS, or not its version. */
const withoutEdns: ReadonlySet<string> = new Set(['FORMERR', 'NOTIMP', 'BADVERS']);
