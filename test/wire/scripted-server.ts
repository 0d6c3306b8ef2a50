import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createRawServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  /** The port that the client called from: one per connection. */
  readonly connection: number;
}

export type Answer = (response: ServerResponse, request: SeenRequest) => unknown;

interface ScriptedServer {
  readonly url: string;
  /** Every request that arrived, in order. */
  readonly seen: SeenRequest[];
  readonly close: () => Promise<void>;
  /** Listens again, at the same port. */
  readonly open: () => void;
}

/** A real HTTP server that gives each request the next answer, the last one for ever. */
export const scriptedServer = async (...answers: Answer[]): Promise<ScriptedServer> => {
  const seen: SeenRequest[] = [];
  const server = createServer((incoming, response) => {
    void (async () => {
      const body = await text(incoming);
      const [path = '', query = ''] = (incoming.url ?? '').split('?');
      const request = {
        method: incoming.method ?? '',
        path,
        query,
        body,
        headers: incoming.headers,
        rawHeaders: incoming.rawHeaders,
        connection: incoming.socket.remotePort ?? 0,
      };
      const answer = answers[Math.min(seen.length, answers.length - 1)];
      seen.push(request);
      await answer?.(response, request);
    })();
  });
  const { port, close } = await listening(server);
  const open = (): void => void server.listen(port, '127.0.0.1');
  return { url: `http://127.0.0.1:${port}/api/v1`, seen, close, open };
};

/** A port that takes connections, of which each is handed over; gives `HOST:PORT`. */
export const rawServer = async (onConnection: (socket: Socket) => unknown): Promise<string> =>
  `127.0.0.1:${(await listening(createRawServer(onConnection))).port}`;

/** Lets a server listen at a free port of this machine. `close`, at the end of the test, ends its connections too. */
export const listening = async (
  server: Server,
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
) => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  };
  atEnd(close);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return { port: (server.address() as AddressInfo).port, close };
};

export const json =
  (value: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

export const status =
  (code: number, body: string | Buffer = '', headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body);

/** Takes the request and never answers. */
export const silence: Answer = () => undefined;

/** Takes the request and resets the connection. */
export const reset: Answer = (response) => response.socket?.resetAndDestroy();

/** Half of an answer that promises more, then what `then` does. */
export const half =
  (then: (response: ServerResponse) => unknown, code = 200): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('[{"id": 1', () => then(response));
  };
