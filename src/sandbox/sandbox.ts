import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf, UserError } from '../errors.ts';
import { changeByHand } from './by-hand.ts';
import { Refusal, type SandboxData } from './data.ts';
import { operate } from './operations.ts';
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
  readonly onRequest?: (method: string, path: string, status: number) => void;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/**
 * Starts an embedded hosting service: the seven operations of the specification over HTTP, on example data. What it does
 * where the specification is silent is its own choice, which `.github/docs/sandbox.md` tells; another service may differ.
 * Throws a `UserError` if it cannot listen, or cannot use the data file.
 */
export const startSandbox = async (options: SandboxOptions) => {
  const { host = '127.0.0.1', port = 0, dataFile, latency = 0, reset = false, onRequest } = options;
  const store = dataFile === undefined ? memoryStore() : fileStore(dataFile, reset);
  const answering = new Set<Promise<void>>();
  let isClosing = false;
  const serve = async (request: IncomingMessage, response: ServerResponse, body: string): Promise<void> => {
    const { method = '', url = '' } = request;
    const { status, answer } = answerTo(store, request, body);
    if (latency > 0) await wait(latency);
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...(isClosing ? { connection: 'close' } : {}),
    });
    await new Promise<void>((resolve) => {
      response.on('close', resolve).end(JSON.stringify(answer));
    });
    onRequest?.(method, pathOf(url), status);
  };
  const server = createServer((request, response) => {
    const served = async (): Promise<void> => {
      // Only from here on there is something to wait for: a body may never end.
      const body = await text(request);
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
    /** Sends the answers in flight, then closes every connection. */
    close: async (): Promise<void> => {
      isClosing = true;
      const closed = new Promise((resolve) => void server.close(resolve));
      await Promise.all(answering);
      server.closeAllConnections();
      await closed;
    },
  };
};

type SandboxRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/** What the service says to a request, and does to its data. */
export const answerTo = (store: SandboxStore, request: SandboxRequest, body: string) => {
  try {
    const data = store.read();
    const answer = perform(data, request, body);
    if (request.method !== 'GET') store.write(data);
    return { status: 200, answer };
  } catch (error) {
    return { status: error instanceof Refusal ? error.status : 500, answer: { error: messageOf(error) } };
  }
};

const perform = (
  data: SandboxData,
  { method = '', url = '', headers }: SandboxRequest,
  body: string,
): unknown => {
  const path = pathOf(url);
  const type = (headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase();
  if (path.startsWith('/api/v1/')) {
    if (body !== '' && type !== '' && type !== 'application/x-www-form-urlencoded')
      throw new Refusal(415, 'Send the parameters as application/x-www-form-urlencoded.');
    const parameters = new URLSearchParams(`${url.slice(path.length + 1)}&${body}`);
    return operate(data, method, path.slice('/api/v1'.length), parameters);
  }
  if (!path.startsWith('/sandbox/')) throw new Refusal(404, 'There is no such path.');
  if (method !== 'POST') throw new Refusal(405, 'Ask for this path with POST.');
  // No web page gets here: JSON to another origin needs a preflight, which is not answered, and DNS rebinding fails since
  // only loopback host names are accepted.
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(headers.host ?? ''))
    throw new Refusal(403, 'Changes by hand are only taken under a loopback host name.');
  if (type !== 'application/json') throw new Refusal(415, 'Send the body as application/json.');
  return changeByHand(data, path.slice('/sandbox/'.length), body);
};

const pathOf = (url: string): string => url.replace(/\?.*/s, '');

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
