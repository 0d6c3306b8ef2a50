import type { buildConnector as Connector, Pool as ReadPool } from 'undici';
import { sendRequest, type Room, type WireAnswer, type WireRequest } from './send-request.ts';
import { buildConnector, Client, Pool } from './undici.ts';

interface TransportOptions {
  readonly origin: string;
  readonly requestTimeout: number;
  readonly writeTimeout: number;
  readonly maxAnswerSize: number;
}

/**
 * Sends each request at most once, without retries or redirects. Reads of all clients of a service share keep-alive
 * connections, as many as there are requests in flight; each write has its own, so that a stale connection cannot make its outcome unknown.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #reads: SharedReads;
  readonly #room: Room;
  readonly #connectForWrite: Connector.connector;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#room = roomOf(options.maxAnswerSize);
    this.#reads = sharedReads(options.origin, options.requestTimeout);
    // Leaves half of the time for the answer: with too little, an add would have an unknown outcome. One
    // connector for all writes keeps their TLS sessions.
    this.#connectForWrite = buildConnector({ timeout: Math.ceil(options.writeTimeout / 2) });
  }

  /** Throws {@link TransportError}. The signal aborts it. */
  async read(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    return sendRequest(this.#reads.pool, request, this.#room, signal);
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

  /** To be called when nothing is in flight. Who closes last closes the keep-alive connections. */
  async close(): Promise<void> {
    await this.#reads.close();
  }
}

interface SharedReads {
  readonly pool: ReadPool;
  readonly close: () => Promise<void>;
}

/** Thousands of clients would else keep as many idle connections to one service, and each make its own. */
const sharedReads = (origin: string, timeout: number): SharedReads => {
  const key = `${timeout} ${origin}`;
  const open = pools.get(key) ?? {
    pool: new Pool(origin, { ...noOwnTimeouts, connect: { timeout } }),
    users: 0,
  };
  pools.set(key, open);
  open.users += 1;
  let isClosed = false;
  return {
    pool: open.pool,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      open.users -= 1;
      if (open.users > 0) return;
      pools.delete(key);
      await open.pool.destroy();
    },
  };
};

const pools = new Map<string, { readonly pool: ReadPool; users: number }>();

const roomOf = (size: number): Room => ({ size, left: size });

const noOwnTimeouts = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 } as const;
