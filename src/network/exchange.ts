import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Route } from '../model/route.ts';
import { sizeText } from '../model/size.ts';
import { connect, proxyHeaders } from './connect.ts';
import { Client, request } from './undici.ts';
import { WireError, wireError } from './wire-error.ts';

export interface WireRequest {
  readonly method: 'GET' | 'PUT' | 'POST';
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
   * A read may take a connection that another one has left. A write and a message have their own, and of the answer to a
   * message only the status is waited for.
   */
  readonly kind: 'read' | 'write' | 'message';
  /** Called when a write's connection is ready, just before it is sent: throws if it must not be sent any more. */
  readonly beforeSend?: () => void;
  /** Bytes of the largest answer. */
  readonly maxSize: number;
  /** The previous answer, which most likely comes again and is then the body. */
  readonly previous?: Buffer | null;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** True if the body is incomplete, which only happens with errors. */
  readonly isCut: boolean;
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/**
 * Sends one request, at most once, and receives its whole answer. No redirect is followed, and nothing is repeated.
 * Rejects with {@link WireError}.
 */
export const exchange = async (asked: WireRequest): Promise<WireAnswer> => {
  const { timeout, signal, kind } = asked;
  const cut = new AbortController();
  const stage: Stage = { sent: false, answered: false };
  const end = (fault: 'timeout' | 'aborted', message: string): void =>
    cut.abort(new WireError(message, { fault, sent: stage.sent }));
  const expire = (after: number): void => {
    const missing = stage.answered ? 'the rest of the answer' : stage.sent ? 'an answer' : 'a connection';
    end('timeout', `timeout: ${missing} did not come within ${Math.round(after)} ms`);
  };
  // Half of the time is left for the answer to what is sent once: with too little, its outcome would be unknown.
  const unsent = kind === 'read' ? timeout : timeout / 2;
  // After a blocked event loop a timer fires before what waits in the socket is read.
  const timers = [
    setTimeout(() => setImmediate(expire, timeout), timeout),
    setTimeout(() => setImmediate(() => stage.sent || expire(unsent)), unsent),
  ];
  const stop = (): void => {
    if (kind !== 'write' || !stage.sent) end('aborted', 'aborted: this program is shutting down');
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await send(asked, cut.signal, stage);
  } catch (error) {
    throw wireError(cut.signal.aborted ? cut.signal.reason : error, stage.sent);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
};

/** How far a request has come. */
interface Stage {
  sent: boolean;
  answered: boolean;
}

const send = async (asked: WireRequest, cut: AbortSignal, stage: Stage): Promise<WireAnswer> => {
  const { origin, route, kind, beforeSend } = asked;
  cut.throwIfAborted();
  const idle = idleTo(origin, route);
  for (const one of idle) if (one.socket.destroyed) idle.delete(one);
  const [left] = kind === 'read' ? idle : [];
  const connection = left ?? connectionOn(await connect(origin, route, cut), origin);
  idle.delete(connection);
  const { socket, client } = connection;
  let isWhole = false;
  try {
    cut.throwIfAborted();
    beforeSend?.();
    stage.sent = true;
    const { statusCode: status, headers, body } = await request(client, { ...optionsOf(asked), signal: cut });
    stage.answered = true;
    if (kind === 'message') {
      body.on('error', () => undefined).destroy();
      return { status, headers, body: Buffer.alloc(0), isCut: true };
    }
    const received = await bodyOf(body, asked, !isSuccess(status));
    isWhole = !received.isCut;
    return { status, headers, ...received };
  } catch (error) {
    if (error !== hasEnded || connection !== left) throw connection.alert ?? error;
    stage.sent = false;
    return await send(asked, cut, stage);
  } finally {
    if (kind === 'read' && isWhole && !socket.destroyed) {
      idle.add(connection);
    } else {
      socket.destroy();
      await client.destroy();
    }
  }
};

const optionsOf = ({ method, origin, path, route: { proxy }, headers, body, kind }: WireRequest) => {
  const isWhole = proxy !== null && origin.startsWith('http:');
  return {
    method,
    path: isWhole ? origin + path : path,
    headers: {
      host: new URL(origin).host,
      'user-agent': 'dns-template-sync',
      ...(isWhole ? proxyHeaders(proxy) : {}),
      ...headers,
    },
    body,
    reset: kind !== 'read',
  };
};

const bodyOf = async (
  answer: AsyncIterable<Buffer>,
  { maxSize, previous }: WireRequest,
  isError: boolean,
): Promise<Pick<WireAnswer, 'body' | 'isCut'>> => {
  const pieces: Buffer[] = [];
  let size = 0;
  let isSame = true;
  let isCut = false;
  try {
    for await (const piece of answer) {
      // What equals the previous answer is not kept twice.
      const former = previous?.subarray(size, size + piece.length);
      const comesAgain = former?.equals(piece) === true;
      pieces.push(comesAgain ? former : piece);
      isSame &&= comesAgain;
      size += piece.length;
      if (size > maxSize) throw tooLarge(maxSize);
      isCut = isError && size > maxErrorBytes;
      if (isCut) break;
    }
  } catch (error) {
    // The status of an error is enough.
    if (!isError) throw error;
    isCut = true;
  }
  return { body: previous && isSame && size === previous.length ? previous : Buffer.concat(pieces), isCut };
};

/** Bytes of an error's body that are enough for an excerpt. */
const maxErrorBytes = 8_192;

const tooLarge = (size: number): WireError =>
  new WireError(
    `the answer is larger than ${sizeText(size)}: if that is right, allow more with maxAnswerSize`,
    { fault: 'too-large', sent: true },
  );

/** One connection, and what speaks HTTP on it. */
interface OpenConnection {
  readonly socket: Socket;
  readonly client: InstanceType<typeof Client>;
  /** Why the service ended TLS, which comes before the end of the connection: in TLS 1.3 also after the handshake. */
  alert: Error | null;
}

/** It gives its one socket once: nothing can be sent twice. */
const connectionOn = (socket: Socket, origin: string): OpenConnection => {
  const client = new Client(origin, {
    ...noOwnTimeouts,
    connect: (_, ready) =>
      queueMicrotask(() => {
        if (socket.destroyed) ready(hasEnded, null);
        else ready(null, socket);
      }),
  });
  const connection: OpenConnection = { socket, client, alert: null };
  socket.on('error', (error) => {
    if ('code' in error && String(error.code).startsWith('ERR_SSL_')) connection.alert ??= error;
  });
  return connection;
};

/** Nothing was sent: a connection that was left is looked at before it is used again. */
const hasEnded = new Error('the connection ended before anything was sent');

/** Servers end idle connections too, and what is sent then fails. */
const noOwnTimeouts = {
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 4_000,
} as const;

/** What reads have left, by where it leads: thousands of clients of one service share it. It keeps no process alive. */
const idleTo = (origin: string, { proxy, ca }: Route): Set<OpenConnection> => {
  const key = JSON.stringify([origin, proxy?.url, ca?.pem()]);
  const connections = idleConnections.get(key) ?? new Set();
  idleConnections.set(key, connections);
  return connections;
};

const idleConnections = new Map<string, Set<OpenConnection>>();
