import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { encodeQuery, readReply, type DnsQuestion, type DnsReply, type QueryOptions } from './message.ts';

interface WaitingQuery {
  readonly question: DnsQuestion;
  readonly take: (reply: DnsReply) => void;
  readonly onRefusal: () => void;
}

/**
 * All questions to one server over one socket. The socket is connected, so that the operating system passes on only
 * what comes from that server; of that, whatever does not repeat the id and the question is ignored.
 */
export class UdpExchange {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, WaitingQuery>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (message) => this.#receive(message));
    // Nobody listens at that port; what was sent meanwhile goes the same way.
    socket.on('error', () => this.#refuse());
  }

  /** Null where there is no route to the address. */
  static open(address: string, port: number): Promise<UdpExchange | null> {
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
          resolve(new UdpExchange(socket));
        });
      } catch {
        fail();
      }
    });
  }

  /**
   * Asks until the signal is aborted, again after each of `pauses` (milliseconds); late replies to the first message
   * count too. Null without a reply.
   */
  async ask(
    question: DnsQuestion,
    options: QueryOptions,
    pauses: readonly number[],
    signal: AbortSignal,
  ): Promise<DnsReply | null> {
    if (signal.aborted) return null;
    const id = this.#freeId();
    const message = encodeQuery(id, question, options);
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
        const pause = pauses[sent];
        if (pause === undefined) return end(null);
        sent += 1;
        clearTimeout(timer);
        timer = setTimeout(send, pause);
        this.#socket.send(message);
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.set(id, {
        question,
        take: end,
        onRefusal: () => {
          clearTimeout(timer);
          timer = setTimeout(send, pauseAfterRefusal);
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
    if (waiting === undefined) return;
    const reply = readReply(message, id, waiting.question);
    if (reply !== null) waiting.take(reply);
  }

  #refuse(): void {
    for (const { onRefusal } of this.#waiting.values()) onRefusal();
  }
}

/** Milliseconds: a server that is being restarted is there again soon. */
const pauseAfterRefusal = 100;
