import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { makeDirectory, writeAtomically } from '../lib/files.ts';
import { exampleData } from './example-data.ts';
import { changeByHand, operate, Refusal, SandboxData } from './operations.ts';

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/**
 * Starts an embedded hosting service: the seven operations of the specification over HTTP, on example data. What it does
 * where the specification is silent is its own choice, which `.github/docs/sandbox.md` tells; another service may differ.
 * Throws a `UserError` if it cannot listen, or cannot use the data file.
 */
export const startSandbox = async (options: {
  readonly host?: string;
  /** 0: any free one. */
  readonly port?: number;
  /** The file for the data, which is in memory without one. */
  readonly dataFile?: string;
  /** Milliseconds before each answer, after its change has been made. */
  readonly latency?: number;
  /** Start again with the example data. */
  readonly reset?: boolean;
  /** Called after each answer. `path` is without the query, which has the tokens. */
  readonly onRequest?: (method: string, path: string, status: number) => void;
}) => {
  const { host = '127.0.0.1', port = 0, dataFile, latency = 0, reset = false, onRequest } = options;
  const store = dataFile === undefined ? memoryStore() : fileStore(dataFile, reset);
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '' } = request;
    const { status, answer } = answerTo(store, request, await text(request));
    if (latency > 0) await wait(latency);
    response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
      .end(JSON.stringify(answer));
    onRequest?.(method, pathOf(url), status);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    const message = `The sandbox cannot listen on ${host}:${port}: ${messageOf(error)}`;
    throw new UserError(message, { cause: error });
  }
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  return {
    url: `${origin}/api/v1`,
    controlUrl: `${origin}/sandbox`,
    /** Ends every connection. */
    close: async (): Promise<void> => {
      const closed = once(server, 'close');
      server.close();
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
  const asked = pathOf(url);
  const type = (headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase();
  if (asked.startsWith('/api/v1/')) {
    if (body !== '' && type !== '' && type !== 'application/x-www-form-urlencoded')
      throw new Refusal(415, 'Send the parameters as application/x-www-form-urlencoded.');
    const parameters = new URLSearchParams(`${url.slice(asked.length + 1)}&${body}`);
    return operate(data, method, asked.slice('/api/v1'.length), parameters);
  }
  if (!asked.startsWith('/sandbox/')) throw new Refusal(404, 'There is no such path.');
  if (method !== 'POST') throw new Refusal(405, 'Ask for this path with POST.');
  // No web page gets here: JSON to another origin needs a preflight, which is not answered, and DNS rebinding fails since
  // only loopback host names are accepted.
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(headers.host ?? ''))
    throw new Refusal(403, 'Changes by hand are only taken under a loopback host name.');
  if (type !== 'application/json') throw new Refusal(415, 'Send the body as application/json.');
  return changeByHand(data, asked.slice('/sandbox/'.length), body);
};

const pathOf = (url: string): string => url.replace(/\?.*/s, '');

/** The data as it is now, as an object of one's own to change; what is written is it from then on. */
export interface SandboxStore {
  read(): SandboxData;
  write(data: SandboxData): void;
}

export const memoryStore = (): SandboxStore => {
  let known = exampleData();
  return {
    read: () => structuredClone(known),
    write: (data) => void (known = structuredClone(data)),
  };
};

/** One JSON file, replaced as a whole with each change, which several processes may read. A missing one is the example data. */
const fileStore = (file: string, reset: boolean): SandboxStore => {
  const write = (data: SandboxData): void => writeAtomically(file, JSON.stringify(data), 0o600);
  const read = (): SandboxData => (existsSync(file) ? parse(file) : exampleData());
  try {
    makeDirectory(path.dirname(file), 0o700);
    // A pipe or a device stays, and reading it says what it is.
    if (reset && statSync(file, { throwIfNoEntry: false })?.isFile() !== false) rmSync(file, { force: true });
    if (!existsSync(file)) write(exampleData());
    read();
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`The sandbox cannot use its data file ${file}: ${codeOf(error)}`, { cause: error });
  }
  return { read, write };
};

const parse = (file: string): SandboxData => {
  // Reading a pipe would stand still until somebody writes to it.
  if (!statSync(file).isFile()) throw new Error('it is not a regular file');
  const content = readFileSync(file, 'utf8');
  try {
    // Jitless: compiling the schema takes longer than reading a file with it.
    return SandboxData.parse(JSON.parse(content), { jitless: true });
  } catch (error) {
    const advice = 'Use --reset to start again with the example data, or repair the file.';
    throw new UserError(`The sandbox's data file ${file} is damaged. ${advice}`, { cause: error });
  }
};
