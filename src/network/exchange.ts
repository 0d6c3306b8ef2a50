import type { Socket } from 'node:net';
import type * as Undici from 'undici';
// @ts-expect-error -- without types of its own
import requestOn from 'undici/lib/api/api-request.js';
// @ts-expect-error -- without types of its own
import ClientOfUndici from 'undici/lib/dispatcher/client.js';
import type { Route } from '../model/route.ts';
import { sizeText } from '../model/size.ts';
import { connect } from './connect.ts';
import { WireError, wireError, type WireFault } from './wire-error.ts';

// The public entry of undici loads all of it (fetch, caches, WebSocket), which costs a plan of the examples 16 ms and 6 MiB.
// oxlint-disable typescript/no-unsafe-type-assertion -- these modules are what the package exports under these names
const Client = ClientOfUndici as typeof Undici.Client;
const request = requestOn as (
  this: Undici.Client,
  options: Undici.Dispatcher.RequestOptions,
) => Promise<Undici.Dispatcher.ResponseData>;
// oxlint-enable typescript/no-unsafe-type-assertion

export interface WireRequest {
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly route: Route;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Milliseconds for everything: connecting, sending, and the whole answer. */
  readonly timeout: number;
  /** Ends it; but not a write that was sent. */
  readonly signal: AbortSignal;
  /**
   * GET, PUT and POST. A read may take a connection that another one has left; the others have their own. Of the answer to
   * a message only the status matters.
   */
  readonly kind: keyof typeof methods;
  /** Called when the connection is ready, just before anything is sent: throws if it must not be sent any more. */
  readonly beforeSend?: (() => void) | undefined;
  /** Bytes of the largest answer. */
  readonly maxSize: number;
  /** The previous answer, which most likely comes again and is then the body. */
  readonly previous?: Buffer | null;
}

const methods = { read: 'GET', write: 'PUT', message: 'POST' } as const;

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Empty if it did not come whole, where the status is enough. */
  readonly body: Buffer;
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/**
 * Sends one request, at most once, and receives its whole answer. No redirect is followed, and nothing is repeated.
 * Rejects with {@link WireError}.
 */
export const exchange = async (asked: WireRequest): Promise<WireAnswer> => {
  const { timeout, signal, kind } = asked;
  const cut = new AbortController();
  const stage: Stage = { isSent: false, fault: 'network' };
  const expire = (): void => {
    const missing = stage.isSent ? 'the answer' : 'a connection';
    const message = `timeout: ${missing} did not come within ${Math.round(timeout)} ms`;
    cut.abort(new WireError(message, 'timeout', stage.isSent));
  };
  const timer = setTimeout(expire, timeout);
  const stop = (): void => {
    if (kind === 'write' && stage.isSent) return;
    cut.abort(new WireError('aborted: this program is shutting down', 'aborted', stage.isSent));
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await send(asked, cut.signal, stage);
  } catch (error) {
    throw wireError(cut.signal.aborted ? cut.signal.reason : error, stage.isSent, stage.fault);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
};

/** How far a request came. */
interface Stage {
  isSent: boolean;
  fault: WireFault;
}

const send = async (asked: WireRequest, signal: AbortSignal, stage: Stage): Promise<WireAnswer> => {
  const { origin, path, route, headers, body, kind } = asked;
  signal.throwIfAborted();
  const idle = idleTo(origin, route);
  let connection = kind === 'read' ? idle.pop() : undefined;
  while (connection?.socket.destroyed) connection = idle.pop();
  connection ??= await open(origin, route, signal);
  const { socket, client } = connection;
  let isFree = false;
  const { bytesRead } = socket;
  try {
    signal.throwIfAborted();
    asked.beforeSend?.();
    stage.isSent = true;
    const answer = await request.call(client, {
      method: methods[kind],
      path,
      headers: {
        host: new URL(origin).host,
        'user-agent': 'dns-template-sync',
        'accept-encoding': 'identity',
        ...headers,
      },
      body,
      reset: kind !== 'read',
      signal,
    });
    const { statusCode: status } = answer;
    const isStatusEnough = kind === 'message' || !isSuccess(status);
    const received = await bodyOf(answer.body, asked).catch((error: unknown) => {
      if (isStatusEnough) return Buffer.alloc(0);
      throw error;
    });
    isFree = kind === 'read' && !isStatusEnough && !socket.destroyed;
    return { status, headers: answer.headers, body: received };
  } catch (error) {
    if (socket.bytesRead > bytesRead && !noStatusLine.test(String(error))) stage.fault = 'damaged';
    throw connection.alert ?? error;
  } finally {
    if (isFree) {
      idle.push(connection);
    } else {
      socket.destroy();
      await client.destroy();
    }
  }
};

/** What undici says of an answer that does not begin as one of HTTP. */
const noStatusLine = /\((?:Expected HTTP\/|Invalid HTTP version)/;

const bodyOf = async (answer: AsyncIterable<Buffer>, { maxSize, previous }: WireRequest): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let size = 0;
  let isSame = true;
  for await (const piece of answer) {
    // What equals the previous answer is not kept twice.
    const former = previous?.subarray(size, size + piece.length);
    const comesAgain = former?.equals(piece) === true;
    pieces.push(comesAgain ? former : piece);
    isSame &&= comesAgain;
    size += piece.length;
    if (size <= maxSize) continue;
    const problem = `the answer is larger than ${sizeText(maxSize)}: if that is right, allow more with maxAnswerSize`;
    throw new WireError(problem, 'too-large', true);
  }
  if (previous && isSame && size === previous.length) return previous;
  // Not from the pool, as `concat` takes it: a small answer that is kept would keep 8 KiB.
  const body = Buffer.allocUnsafeSlow(size);
  let end = 0;
  for (const piece of pieces) end += piece.copy(body, end);
  return body;
};

/** One connection, and what speaks HTTP on it. */
interface OpenConnection {
  readonly socket: Socket;
  readonly client: Undici.Client;
  /** Why the service ended TLS, which comes before the end of the connection: in TLS 1.3 also after the handshake. */
  alert: Error | null;
}

const open = async (origin: string, route: Route, signal: AbortSignal): Promise<OpenConnection> => {
  const socket = await connect(origin, route, signal);
  const client = new Client(origin, {
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    // Servers end idle connections too, and what is sent then fails.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 4_000,
    // It gives its one socket once: nothing can be sent twice.
    connect: (_, ready) =>
      queueMicrotask(() => {
        if (socket.destroyed) ready(new Error('the connection has ended'), null);
        else ready(null, socket);
      }),
  });
  const connection: OpenConnection = { socket, client, alert: null };
  socket.on('error', (error) => {
    if ('code' in error && String(error.code).startsWith('ERR_SSL_')) connection.alert ??= error;
  });
  return connection;
};

/** What reads have left, by where it leads: thousands of clients of one service share it. It keeps no process alive. */
const idleTo = (origin: string, { proxy, ca }: Route): OpenConnection[] => {
  const key = JSON.stringify([origin, proxy?.url, ca?.pem()]);
  const connections = idleConnections.get(key) ?? [];
  idleConnections.set(key, connections);
  return connections;
};

const idleConnections = new Map<string, OpenConnection[]>();
