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
 * Sends single requests, each at most once: nothing here repeats one or follows a redirect.
 * Reads share kept connections; each write has its own, so that a stale one cannot blur what happened to it.
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
    // Half of the time is left for the answer: too little of it, and an add would end as an unknown outcome.
    // One connector for all writes keeps their TLS sessions.
    this.#connectForWrite = buildConnector({ timeout: Math.ceil(options.writeTimeout / 2) });
  }

  /** Throws {@link TransportError}. The signal cuts it off. */
  async read(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    return sendRequest(this.#reads, request, this.#room, signal);
  }

  /** Throws {@link TransportError}. Nothing but its deadline cuts it off. */
  async write(request: WireRequest): Promise<WireAnswer> {
    const connection = new Client(this.#options.origin, { ...noOwnTimeouts, connect: this.#connectForWrite });
    try {
      // Whatever comes with reads, what became of a write can be told.
      return await sendRequest(connection, request, roomOf(this.#options.maxAnswerSize));
    } finally {
      await connection.destroy();
    }
  }

  /** Ends the kept connections; to be called when nothing is in flight. */
  async close(): Promise<void> {
    await this.#reads.destroy();
  }
}

const roomOf = (size: number): Room => ({ size, left: size });

const noOwnTimeouts = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 } as const;
