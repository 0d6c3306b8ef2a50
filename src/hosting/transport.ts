import type { buildConnector as Connector, Pool as ReadPool } from 'undici';
import { sendRequest, type Room, type WireAnswer, type WireRequest } from './send-request.ts';
import { buildConnector, Client, Pool } from './undici.ts';

interface TransportOptions {
  readonly origin: string;
  readonly concurrency: number;
  readonly requestTimeout: number;
  readonly writeTimeout: number;
  readonly maxAnswerSize: number;
}

/**
 * Sends each request at most once, without retries or redirects. Reads share keep-alive connections; each
 * write has its own, so that a stale connection cannot make its outcome unknown.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #reads: ReadPool;
  readonly #room: Room;
  readonly #connectForWrite: Connector.connector;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#room = roomOf(options.maxAnswerSize);
    this.#reads = new Pool(options.origin, {
      ...noOwnTimeouts,
      connections: options.concurrency,
      connect: { timeout: options.requestTimeout },
    });
    // Leaves half of the time for the answer: with too little, an add would have an unknown outcome. One
    // connector for all writes keeps their TLS sessions.
    this.#connectForWrite = buildConnector({ timeout: Math.ceil(options.writeTimeout / 2) });
  }

  /** Throws {@link TransportError}. The signal aborts it. */
  async read(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    return sendRequest(this.#reads, request, this.#room, signal);
  }

  /** Throws {@link TransportError}. Only its deadline aborts it. */
  async write(request: WireRequest): Promise<WireAnswer> {
    const connection = new Client(this.#options.origin, { ...noOwnTimeouts, connect: this.#connectForWrite });
    try {
      // A separate limit from that of reads: their size must not make a write's outcome unknown.
      return await sendRequest(connection, request, roomOf(this.#options.maxAnswerSize));
    } finally {
      await connection.destroy();
    }
  }

  /** Closes the keep-alive connections; to be called when nothing is in flight. */
  async close(): Promise<void> {
    await this.#reads.destroy();
  }
}

const roomOf = (size: number): Room => ({ size, left: size });

const noOwnTimeouts = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 } as const;
