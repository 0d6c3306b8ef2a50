import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf, UserError } from '../errors.ts';
import { answerTo } from './answer.ts';
import type { Answer } from './answer.ts';
import { memoryStore, type DataStore } from './data-store.ts';
import type { DnsServerOptions, SandboxDns } from './dns-server.ts';
import { openFileStore } from './file-store.ts';
import { allOf, type RealityName } from './realities.ts';

export interface SandboxOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** The file for the data. Without it, data is in memory. */
  readonly dataFile?: string;
  /** Milliseconds before each answer, after its change has been made. */
  readonly latency?: number;
  /** Start again with the example data. */
  readonly reset?: boolean;
  /** The address of the DNS server for the subdomains; without it there is none. Port 0: any free one. */
  readonly dns?: Pick<DnsServerOptions, 'host' | 'port' | 'lag'>;
  /** What it does differently from the choices below. */
  readonly realities?: readonly RealityName[];
  /** Called after each answer. `path` is without the query, which has the tokens. */
  readonly onRequest?: (request: SandboxRequest) => void;
}

export interface SandboxRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

export interface Sandbox {
  /** The base address, ending in `/api/v1`. */
  readonly url: string;
  /** The base address for changes that no operation can make. */
  readonly controlUrl: string;
  /** The address of the DNS server, such as `127.0.0.1:5353`. */
  readonly dns: string | null;
  /** Finishes the answers in flight, then closes every connection. */
  close(): Promise<void>;
}

/**
 * Starts an embedded hosting service: the seven operations of the specification over HTTP, on example data.
 *
 * Where the specification is silent, the sandbox makes its own choice; another service may differ:
 *
 * - Success is 200. A failure is JSON too, `{"error": "…"}`: 400 a request that cannot be read or that gives a
 *   parameter twice, 401 a token missing or empty, 403 a write to a public template, 404 no such path, account,
 *   template, record or subdomain, 405 another method, 413 a body over 1 MiB, 415 a body that is no form,
 *   422 a parameter missing or wrong.
 * - Any tokens are accepted, and all see the same client.
 * - Parameters count in the query and in a form body, with every method. Unknown ones and ones that do not apply
 *   (`type` of an update, `priority` of a type without one) are ignored. An empty `name` unsets the name.
 * - Names and contents are kept exactly as sent, and only the content of SRV is checked. A record may be stored
 *   twice, and beside any other. Without a `ttl` a record gets 3600 seconds.
 * - Ids are never reused. Records are listed in the order in which they were added.
 * - The count `subdomains` of an own template is that of the subdomains that use it; it is null for public ones.
 * - With `dns`, a name server has each subdomain as a zone of its own, whose serial counts changes.
 * - The records of a subdomain are NS and SOA, then those of its template under the template's names. They follow
 *   the template at once. The letter case of a requested subdomain does not matter.
 *
 * Throws a `UserError` when it cannot listen, or cannot use the data file.
 */
export const startSandbox = async ({
  host = '127.0.0.1',
  port = 0,
  dataFile,
  latency = 0,
  reset = false,
  dns,
  realities = [],
  onRequest,
}: SandboxOptions): Promise<Sandbox> => {
  const store = dataFile === undefined ? memoryStore() : await openFileStore(dataFile, reset);
  const reality = realities.length === 0 ? null : allOf(realities);
  const inFlight = new Map<IncomingMessage, Promise<void>>();
  let closing = false;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = await answerTo(request, store, reality);
    if (latency > 0) {
      await wait(latency);
    }
    await send(
      response,
      closing ? { ...answer, headers: { ...answer.headers, connection: 'close' } } : answer,
    );
    const path = (request.url ?? '').replace(/\?.*/s, '');
    onRequest?.({ method: request.method ?? '', path, status: answer.status });
  };
  const server = createServer((request, response) => {
    inFlight.set(
      request,
      serve(request, response).finally(() => inFlight.delete(request)),
    );
  });
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${await listen(server, host, port)}`;

  const names = dns === undefined ? null : await serveDns(dns, store, server);

  const close = async (): Promise<void> => {
    closing = true;
    names?.close();
    const closed = new Promise((resolve) => {
      server.close(resolve);
    });
    while (inFlight.size > 0) {
      dropUnread(inFlight.keys());
      await Promise.all(inFlight.values());
    }
    server.closeAllConnections();
    await closed;
  };
  return { url: `${origin}/api/v1`, controlUrl: `${origin}/sandbox`, dns: names?.place ?? null, close };
};

const serveDns = async (
  place: NonNullable<SandboxOptions['dns']>,
  store: DataStore,
  server: Server,
): Promise<SandboxDns> => {
  try {
    const { startDnsServer } = await import('./dns-server.ts');
    return await startDnsServer({ ...place, read: () => store.read() });
  } catch (error) {
    server.close();
    throw error;
  }
};

/** Resolves to the port. */
const listen = async (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new UserError(`The sandbox cannot listen on ${host}:${port}: ${messageOf(error)}`, { cause: error }),
      );
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });

/** Drops requests whose body is incomplete: they may never end. */
const dropUnread = (requests: Iterable<IncomingMessage>): void => {
  for (const request of requests) {
    if (!request.complete) {
      request.destroy();
    }
  }
};

/** Resolves when the answer was sent or the connection is closed. */
const send = async (response: ServerResponse, { status, headers, body }: Answer): Promise<void> =>
  new Promise((resolve) => {
    response.once('close', resolve);
    if (response.destroyed) {
      resolve();
      return;
    }
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      ...(status === 204 ? {} : { 'content-length': Buffer.byteLength(body) }),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    });
    response.end(body);
  });
