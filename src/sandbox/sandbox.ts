import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf, UserError } from '../errors.ts';
import { changeByHand } from './by-hand.ts';
import { operationFor, Refusal } from './operations.ts';
import { fileStore, memoryStore, type SandboxStore } from './store.ts';

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
  /** The base address for changes by hand. */
  readonly controlUrl: string;
  /** For any change of the data. */
  readonly store: SandboxStore;
  /** Sends the answers in flight, then closes every connection. */
  close(): Promise<void>;
}

/**
 * Starts an embedded hosting service: the seven operations of the specification over HTTP, on example data.
 *
 * Where the specification is silent, it makes its own choice; another service may differ:
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
 * - The count `subdomains` of an own template is that of the subdomains that follow it; it is null for public ones.
 * - The records of a subdomain are NS and SOA, then those of its template as they are at that moment. The letter case of
 *   its name does not matter.
 *
 * Throws a `UserError` if it cannot listen, or cannot use the data file.
 */
export const startSandbox = async (options: SandboxOptions): Promise<Sandbox> => {
  const { host = '127.0.0.1', port = 0, dataFile, latency = 0, reset = false, onRequest } = options;
  const store = dataFile === undefined ? memoryStore() : await fileStore(dataFile, reset);
  const answering = new Set<Promise<void>>();
  let isClosing = false;
  const serve = async (
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer | null,
  ): Promise<void> => {
    const path = (request.url ?? '').replace(/\?.*/s, '');
    const { status, headers, answer } = await answerTo(request, path, body, store);
    if (latency > 0) await wait(latency);
    const text = JSON.stringify(answer);
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      ...(isClosing || body === null ? { connection: 'close' } : {}),
      ...headers,
    });
    await new Promise<void>((resolve) => void response.on('close', resolve).end(text));
    onRequest?.({ method: request.method ?? '', path, status });
  };
  const server = createServer((request, response) => {
    const served = async (): Promise<void> => {
      // Only from here on there is something to wait for: a body may never end.
      const body = await bodyOf(request);
      const answered = serve(request, response, body).finally(() => answering.delete(answered));
      answering.add(answered);
    };
    served().catch(() => response.destroy());
  });
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${await listen(server, host, port)}`;
  return {
    url: `${origin}/api/v1`,
    controlUrl: `${origin}/sandbox`,
    store,
    close: async () => {
      isClosing = true;
      const closed = new Promise((resolve) => void server.close(resolve));
      await Promise.all(answering);
      server.closeAllConnections();
      await closed;
    },
  };
};

/** Null if it is too long; then it is read to its end, within bounds, so that the sender sees the answer. */
const bodyOf = async (request: IncomingMessage): Promise<Buffer | null> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= longestBody) chunks.push(chunk);
    if (size > 32 * longestBody) break;
  }
  return size > longestBody ? null : Buffer.concat(chunks);
};

/** Bytes. */
const longestBody = 1024 * 1024;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: unknown;
}

const answerTo = async (
  request: IncomingMessage,
  path: string,
  body: Buffer | null,
  store: SandboxStore,
): Promise<Answer> => {
  try {
    if (body === null) throw new Refusal(413, `The body is longer than ${longestBody} bytes.`);
    const perform = path.startsWith('/api/v1/') ? operate : byHand;
    return { status: 200, headers: {}, answer: await perform(request, path, body.toString(), store) };
  } catch (error) {
    const { status, headers } = error instanceof Refusal ? error : { status: 500, headers: {} };
    return { status, headers, answer: { error: messageOf(error) } };
  }
};

const operate = async (
  request: IncomingMessage,
  path: string,
  body: string,
  store: SandboxStore,
): Promise<unknown> => {
  if (body !== '' && !['', 'application/x-www-form-urlencoded'].includes(mediaType(request)))
    throw new Refusal(415, 'Send the parameters as application/x-www-form-urlencoded.');
  const query = (request.url ?? '').slice(path.length + 1);
  const parameters = new URLSearchParams([query, body].filter((part) => part !== '').join('&'));
  const { isWrite, run } = operationFor(request.method ?? '', path.slice('/api/v1'.length), parameters);
  return isWrite ? store.change(run) : run(store.read()).answer;
};

/**
 * No web page gets here: JSON to another origin needs a preflight, which is not answered, and DNS rebinding fails since
 * only loopback host names are accepted.
 */
const byHand = async (
  request: IncomingMessage,
  path: string,
  body: string,
  store: SandboxStore,
): Promise<unknown> => {
  if (!path.startsWith('/sandbox/')) throw new Refusal(404, 'There is no such path.');
  if (request.method !== 'POST') throw new Refusal(405, 'Ask for this path with POST.', { allow: 'POST' });
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(request.headers.host ?? ''))
    throw new Refusal(403, 'Changes by hand are only taken under a loopback host name.');
  if (mediaType(request) !== 'application/json') throw new Refusal(415, 'Send the body as application/json.');
  const given = parsed(body);
  return store.change((data) => changeByHand(data, path.slice('/sandbox/'.length), given));
};

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    throw new Refusal(400, 'The body is not JSON.');
  }
};

const mediaType = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase();

/** Resolves to the port. */
const listen = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const message = `The sandbox cannot listen on ${host}:${port}: ${messageOf(error)}`;
      reject(new UserError(message, { cause: error }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
