import type { buildConnector as Connector, Dispatcher, Pool as ReadPool } from 'undici';
import type { Proxy, Route } from '../model/route.ts';
import { openTunnel, proxyHeaders } from '../network/tunnel.ts';
import { trusting } from '../network/connection.ts';
import { sendRequest, type Room, type WireAnswer, type WireRequest } from './send-request.ts';
import { buildConnector, Client, Pool } from './undici.ts';

interface TransportOptions extends Route {
  readonly origin: string;
  readonly requestTimeout: number;
  readonly writeTimeout: number;
  readonly maxAnswerSize: number;
}

/**
 * Sends each request at most once, without retries or redirects. Reads of all clients of a service share keep-alive
 * connections, as many as there are requests in flight; each write has its own, so that a stale connection cannot make its outcome unknown.
 * Through a proxy, `https:` has tunnels, and `http:` is sent to the proxy.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #reads: SharedReads;
  readonly #room: Room;
  readonly #peer: Peer;
  readonly #connectForWrite: Connector.connector;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#room = roomOf(options.maxAnswerSize);
    this.#peer = peerOf(options);
    this.#reads = sharedReads(options, this.#peer);
    // Leaves half of the time for the answer: with too little, an add would have an unknown outcome. One
    // connector for all writes keeps their TLS sessions.
    this.#connectForWrite = connectorOf(options, Math.ceil(options.writeTimeout / 2));
  }

  /** Throws {@link TransportError}. The signal aborts it. */
  async read(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    return this.#send(this.#reads.pool, request, this.#room, signal);
  }

  /** Throws {@link TransportError}. Only its deadline aborts it. */
  async write(request: WireRequest): Promise<WireAnswer> {
    const connection = new Client(this.#peer.origin, { ...noOwnTimeouts, connect: this.#connectForWrite });
    try {
      // A separate limit from that of reads: their size must not make a write's outcome unknown.
      return await this.#send(connection, request, roomOf(this.#options.maxAnswerSize));
    } finally {
      await connection.destroy();
    }
  }

  /** To be called when nothing is in flight. Who closes last closes the keep-alive connections. */
  async close(): Promise<void> {
    await this.#reads.close();
  }

  #send(dispatcher: Dispatcher, request: WireRequest, room: Room, signal?: AbortSignal): Promise<WireAnswer> {
    const { prefix, headers } = this.#peer;
    return sendRequest(dispatcher, { ...request, path: prefix + request.path, headers }, room, signal);
  }
}

/** Whom requests are sent to: the service, or a proxy that is sent whole addresses (RFC 9112 §3.2.2). */
interface Peer {
  readonly origin: string;
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
}

const peerOf = ({ origin, proxy }: TransportOptions): Peer =>
  proxy === null || origin.startsWith('https:')
    ? { origin, prefix: '', headers: {} }
    : {
        origin: new URL(proxy.url).origin,
        prefix: origin,
        headers: { host: new URL(origin).host, ...proxyHeaders(proxy) },
      };

const connectorOf = ({ origin, proxy, ca }: TransportOptions, timeout: number): Connector.connector => {
  const secureContext = trusting(ca);
  const direct = buildConnector({ timeout, ...(secureContext ? { secureContext } : {}) });
  return proxy === null || origin.startsWith('http:') ? direct : tunnelled(proxy, direct, timeout);
};

const tunnelled =
  (proxy: Proxy, secure: Connector.connector, timeout: number): Connector.connector =>
  (options, callback) => {
    const to = { host: options.hostname, port: Number(options.port || 443), timeout };
    openTunnel(proxy, to, (error, httpSocket) =>
      httpSocket ? secure({ ...options, httpSocket }, callback) : callback(error ?? new Error(), null),
    );
  };

interface SharedReads {
  readonly pool: ReadPool;
  readonly close: () => Promise<void>;
}

/** Thousands of clients would else keep as many idle connections to one service, and each make its own. */
const sharedReads = (options: TransportOptions, { origin }: Peer): SharedReads => {
  const { requestTimeout, proxy, ca } = options;
  const key = JSON.stringify([requestTimeout, options.origin, proxy?.url, ca]);
  const open = pools.get(key) ?? {
    pool: new Pool(origin, { ...noOwnTimeouts, connect: connectorOf(options, requestTimeout) }),
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
