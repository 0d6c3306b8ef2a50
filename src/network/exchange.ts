import {
  Agent,
  request as httpRequest,
  type ClientRequest,
  type ClientRequestArgs,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
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
   * A read shares its connection with others, before and after. A write and a message have their own, and of the answer to
   * a message only the status is waited for.
   */
  readonly kind: 'read' | 'write' | 'message';
  /** Called when its own connection is ready, just before it is sent: throws if it must not be sent any more. */
  readonly beforeSend?: () => void;
  readonly room: Room;
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

/** The memory for incoming answers, in bytes, shared by several requests. */
export interface Room {
  readonly size: number;
  left: number;
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
  let ended: WireError | null = null;
  const end = (fault: 'timeout' | 'aborted', message: string): void => {
    ended ??= new WireError(message, { fault, sent: stage.sent });
    cut.abort();
  };
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
    const answer = send(asked, cut.signal, stage).then((request) => receive(request, asked, stage));
    return await Promise.race([answer, aborted(cut.signal)]);
  } catch (error) {
    // Also a connection that is still being made.
    cut.abort();
    throw ended ?? wireError(error, stage.sent);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
};

/** Whatever is waited for then. A moment later, so that an error whose status has come is still one. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => setImmediate(reject, new Error('aborted')));
  });

/** How far a request has come. */
interface Stage {
  sent: boolean;
  answered: boolean;
}

const send = async (asked: WireRequest, cut: AbortSignal, stage: Stage): Promise<ClientRequest> => {
  const { method, origin, path, route, headers, body, kind, beforeSend } = asked;
  const { proxy } = route;
  const isWhole = proxy !== null && origin.startsWith('http:');
  const options: SharedRequest = {
    method,
    path: isWhole ? origin + path : path,
    headers: {
      host: new URL(origin).host,
      'user-agent': 'dns-template-sync',
      ...(body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...(isWhole ? proxyHeaders(proxy) : {}),
      ...headers,
    },
    signal: cut,
    cut,
  };
  if (kind === 'read') {
    const request = httpRequest({ ...options, agent: poolTo(origin, route) });
    request.on('socket', () => (stage.sent = true)).on('error', ignore);
    return request.end(body ?? undefined);
  }
  const socket = await connect(origin, route, cut);
  try {
    cut.throwIfAborted();
    const request = httpRequest({ ...options, createConnection: () => socket }).on('error', ignore);
    beforeSend?.();
    stage.sent = true;
    return request.end(body ?? undefined);
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

/** For errors of what somebody waits for, too. */
const ignore = (): void => undefined;

const receive = async (
  request: ClientRequest,
  { kind, room, previous }: WireRequest,
  stage: Stage,
): Promise<WireAnswer> => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
    // After 101 there would be no event at all.
    request.on('upgrade', () => reject(new Error('the service wants to speak another protocol')));
  });
  stage.answered = true;
  const { statusCode: status = 0, headers } = response;
  const isError = !isSuccess(status);
  const pieces: Buffer[] = [];
  let bytes = 0;
  let isSame = true;
  let isCut = false;
  if (kind === 'message') {
    response.on('error', ignore).destroy();
    return { status, headers, body: Buffer.alloc(0), isCut: true };
  }
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no encoding is set
    for await (const piece of response as AsyncIterable<Buffer>) {
      // What equals the previous answer is not kept twice.
      const former = previous?.subarray(bytes, bytes + piece.length);
      const comesAgain = former?.equals(piece) === true;
      pieces.push(comesAgain ? former : piece);
      isSame &&= comesAgain;
      bytes += piece.length;
      room.left -= piece.length;
      if (room.left < 0) throw tooLarge(room);
      isCut = isError && bytes > maxErrorBytes;
      if (isCut) break;
    }
  } catch (error) {
    // The status of an error is enough.
    if (!isError) throw error;
    isCut = true;
  } finally {
    room.left += bytes;
  }
  const body = previous && isSame && bytes === previous.length ? previous : Buffer.concat(pieces);
  return { status, headers, body, isCut };
};

const tooLarge = ({ size }: Room): WireError =>
  new WireError(
    `the answer, together with others in transfer, is larger than ${sizeText(size)}: if that is right, allow more with maxAnswerSize`,
    { fault: 'too-large', sent: true },
  );

/** Bytes of an error's body that are enough for an excerpt. */
const maxErrorBytes = 8_192;

interface SharedRequest extends ClientRequestArgs {
  /** Ends the connection that is made for it. */
  readonly cut: AbortSignal;
}

/** Keep-alive connections to one origin. Thousands of clients of one service share them; none keeps a process alive. */
class ConnectionPool extends Agent {
  readonly #connect: (cut: AbortSignal) => Promise<Duplex>;

  constructor(open: (cut: AbortSignal) => Promise<Duplex>) {
    // Servers end idle connections too, and what is sent then fails.
    super({ keepAlive: true, timeout: 4_000 });
    this.#connect = open;
  }

  override createConnection(
    { cut }: SharedRequest,
    settle: (error: Error | null, socket?: Duplex) => void,
  ): undefined {
    this.#connect(cut).then((socket) => settle(null, socket), settle);
  }
}

const poolTo = (origin: string, route: Route): ConnectionPool => {
  const key = JSON.stringify([origin, route.proxy?.url, route.ca]);
  const pool = pools.get(key) ?? new ConnectionPool((cut) => connect(origin, route, cut));
  pools.set(key, pool);
  return pool;
};

const pools = new Map<string, ConnectionPool>();
