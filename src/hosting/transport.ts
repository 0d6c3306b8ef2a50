import * as http from 'node:http';
import * as https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { exchange, type Sender, type WireAnswer, type WireRequest } from './exchange.ts';

interface TransportOptions {
  readonly origin: string;
  readonly concurrency: number;
  readonly requestTimeout: number;
  readonly writeTimeout: number;
  readonly maxResponseBytes: number;
}

/**
 * Sends single requests, each at most once: nothing here repeats one or follows a redirect.
 * Reads share kept connections; each write has its own, so that a stale one cannot blur what happened to it.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #reads: http.Agent;
  /** Makes a connection for each request; what it keeps are TLS sessions. */
  readonly #writes: http.Agent;

  constructor(options: TransportOptions) {
    const { Agent } = moduleFor(options.origin);
    this.#options = options;
    this.#reads = new Agent({ keepAlive: true, maxSockets: options.concurrency, timeout: idleTime });
    this.#writes = new Agent({ keepAlive: false });
  }

  /** Throws {@link TransportError}. The signal cuts it off. */
  async read(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    const { origin, requestTimeout, maxResponseBytes } = this.#options;
    return exchange(senderTo(origin, this.#reads, requestTimeout), request, maxResponseBytes, signal);
  }

  /** Throws {@link TransportError}. Nothing but its deadline cuts it off. */
  async write(request: WireRequest): Promise<WireAnswer> {
    const { origin, writeTimeout, maxResponseBytes } = this.#options;
    // Half of the time is left for the answer: too little of it, and an add would end as an unknown outcome.
    const connectTimeout = Math.ceil(writeTimeout / 2);
    return exchange(senderTo(origin, this.#writes, connectTimeout), request, maxResponseBytes);
  }

  /** Ends the kept connections; to be called when nothing is in flight. */
  close(): void {
    this.#reads.destroy();
  }
}

const senderTo = (origin: string, agent: http.Agent, connectTimeout: number): Sender => ({
  open: (options) => moduleFor(origin).request({ ...urlToHttpOptions(new URL(origin)), ...options, agent }),
  connected: isSecure(origin) ? 'secureConnect' : 'connect',
  connectTimeout,
});

const moduleFor = (origin: string): Pick<typeof http, 'Agent' | 'request'> =>
  isSecure(origin) ? https : http;

const isSecure = (origin: string): boolean => origin.startsWith('https:');

/** Milliseconds for which a connection is kept. */
const idleTime = 4_000;
