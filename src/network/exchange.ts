import { once } from 'node:events';
import { Agent, request as httpRequest, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Route } from '../model/route.ts';
import { sizeText } from '../model/size.ts';
import { connect, proxyHeaders } from './connect.ts';
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
   * A read may take the connection that another one has left. A write and a message have their own, and of the answer to a
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
  readonly headers: IncomingMessage['headers'];
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
    const answer = await send(asked, cut.signal, stage);
    stage.answered = true;
    const { statusCode: status = 0, headers } = answer;
    if (kind !== 'message') return { status, headers, ...(await bodyOf(answer, asked, !isSuccess(status))) };
    answer.destroy();
    return { status, headers, body: Buffer.alloc(0), isCut: true };
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

/** Resolves to the head of the answer. */
const send = async (asked: WireRequest, cut: AbortSignal, stage: Stage): Promise<IncomingMessage> => {
  const { method, origin, path, route, headers, body, kind, beforeSend } = asked;
  cut.throwIfAborted();
  const isWhole = route.proxy !== null && origin.startsWith('http:');
  const options: ConnectionOptions = {
    agent: kind === 'read' ? readsTo(origin, route) : connections(origin, route, false),
    method,
    path: isWhole ? origin + path : path,
    headers: {
      host: new URL(origin).host,
      'user-agent': 'dns-template-sync',
      ...(isWhole ? proxyHeaders(route.proxy) : {}),
      ...(body === null ? {} : { 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
    cut,
  };
  const request = httpRequest(options).on('error', () => undefined);
  cut.addEventListener('abort', () => request.destroy());
  // Nobody has asked for another protocol.
  request.on('upgrade', (answer, socket) => {
    socket.destroy();
    request.emit('response', answer);
  });
  // The connection is ready, and nothing was sent on it.
  request.once('socket', () => {
    try {
      beforeSend?.();
      stage.sent = true;
      request.end(body ?? '');
    } catch (error) {
      request.destroy(wireError(error, false));
    }
  });
  const [answer]: IncomingMessage[] = await once(request, 'response', { signal: cut });
  return answer!;
};

const bodyOf = async (
  answer: IncomingMessage,
  { maxSize, previous }: WireRequest,
  isError: boolean,
): Promise<Pick<WireAnswer, 'body' | 'isCut'>> => {
  const pieces: Buffer[] = [];
  let size = 0;
  let isSame = true;
  let isCut = false;
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) {
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

interface ConnectionOptions extends ClientRequestArgs {
  /** Ends the connection that is being made. */
  readonly cut: AbortSignal;
}

/** Makes a connection for each request for which none is left. Servers end idle ones too, and what is sent then fails. */
const connections = (origin: string, route: Route, keepAlive: boolean): Agent =>
  Object.assign(new Agent({ keepAlive, timeout: 4_000 }), {
    createConnection: ({ cut }: ConnectionOptions, ready: (error: Error | null, socket?: Duplex) => void) => {
      connect(origin, route, cut).then((socket) => ready(null, socket), ready);
    },
  });

/** What reads leave, by where it leads: thousands of clients of one service share it. It keeps no process alive. */
const readsTo = (origin: string, route: Route): Agent => {
  const key = JSON.stringify([origin, route.proxy?.url, route.ca?.pem()]);
  const agent = agents.get(key) ?? connections(origin, route, true);
  agents.set(key, agent);
  return agent;
};

const agents = new Map<string, Agent>();
