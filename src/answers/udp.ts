import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import {
  encodeQuery,
  readReply,
  roomFor,
  type DnsQuestion,
  type DnsReply,
  type QueryOptions,
} from './message.ts';

/** One packet of a question. */
export interface SentPacket {
  readonly options: QueryOptions;
  /** Milliseconds until the next one is sent, or the question is given up. */
  readonly patience: number;
}

interface WaitingQuery {
  readonly question: DnsQuestion;
  /** Bytes: larger packets are dropped unread. */
  readonly room: number;
  readonly take: (reply: DnsReply) => void;
  readonly onRefusal: () => void;
}

/**
 * Asks one server over one socket. The socket is connected, so that the operating system drops packets from
 * elsewhere; replies that do not repeat id and question are ignored.
 */
export class UdpClient {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, WaitingQuery>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (message) => this.#receive(message));
    // Nothing listens on that port; this fails all questions in flight.
    socket.on('error', () => this.#refuse());
  }

  /** Null if there is no route to the address. */
  static open(address: string, port: number): Promise<UdpClient | null> {
    return new Promise((resolve) => {
      const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
      const fail = (): void => {
        socket.close();
        resolve(null);
      };
      socket.once('error', fail);
      try {
        socket.connect(port, address, () => {
          socket.off('error', fail);
          resolve(new UdpClient(socket));
        });
      } catch {
        fail();
      }
    });
  }

  /**
   * Sends one packet after the other until there is a reply or the signal is aborted. Late replies to the
   * first ones count too. Null without a reply.
   */
  async ask(
    question: DnsQuestion,
    packets: readonly SentPacket[],
    signal: AbortSignal,
  ): Promise<DnsReply | null> {
    if (signal.aborted) return null;
    const id = this.#freeId();
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let sent = 0;
      const end = (reply: DnsReply | null): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(id);
        resolve(reply);
      };
      const onAbort = (): void => end(null);
      const send = (): void => {
        const packet = packets[sent];
        if (packet === undefined) return end(null);
        sent += 1;
        clearTimeout(timer);
        timer = setTimeout(send, packet.patience);
        this.#socket.send(encodeQuery(id, question, packet.options));
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.set(id, {
        question,
        room: Math.max(...packets.map(({ options }) => roomFor(options))),
        take: end,
        onRefusal: () => {
          clearTimeout(timer);
          timer = setTimeout(send, retryAfterRefusal);
        },
      });
      send();
    });
  }

  close(): void {
    this.#socket.close();
  }

  #freeId(): number {
    for (;;) {
      const id = randomInt(65_536);
      if (!this.#waiting.has(id)) return id;
    }
  }

  #receive(message: Buffer): void {
    const id = message.length < 2 ? -1 : message.readUInt16BE(0);
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || message.length > waiting.room) return;
    const reply = readReply(message, id, waiting.question);
    if (reply !== null) waiting.take(reply);
  }

  #refuse(): void {
    for (const { onRefusal } of this.#waiting.values()) onRefusal();
  }
}

/** Milliseconds: a restarting server is back soon. */
const retryAfterRefusal = 100;
