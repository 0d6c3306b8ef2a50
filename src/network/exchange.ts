import { setMaxListeners } from 'node:events';
import type { Dispatcher, Pool as ReadPool } from 'undici';
import type { Route } from '../model/route.ts';
import { sizeText } from '../model/size.ts';
import { connect, proxyHeaders } from './connect.ts';
import { Client, Pool } from './undici.ts';
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
  readonly headers: Headers;
  readonly body: Buffer;
  /** True if the body is incomplete, which only happens with errors. */
  readonly isCut: boolean;
}

type Headers = Readonly<Record<string, string | undefined>>;

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
    return await Promise.race([send(asked, cut.signal, stage), aborted(cut.signal)]);
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

const send = async (asked: WireRequest, cut: AbortSignal, stage: Stage): Promise<WireAnswer> => {
  const { origin, route, kind } = asked;
  if (kind === 'read')
    return onShared(sharedReads(origin, route), (pool) => receive(pool, asked, cut, stage));
  const socket = await connect(origin, route, cut);
  const own = new Client(origin, {
    ...noOwnTimeouts,
    connect: (_, ready) => queueMicrotask(() => ready(null, socket)),
  });
  try {
    return await receive(own, asked, cut, stage);
  } finally {
    socket.destroy();
    await own.destroy();
  }
};

const receive = (
  dispatcher: Dispatcher,
  asked: WireRequest,
  cut: AbortSignal,
  stage: Stage,
): Promise<WireAnswer> =>
  new Promise((resolve, reject) => {
    const { kind, room, previous, beforeSend } = asked;
    let head: Pick<WireAnswer, 'status' | 'headers'> | null = null;
    const pieces: Buffer[] = [];
    let bytes = 0;
    let isSame = true;
    let isOver = false;
    const over = (settle: () => void): void => {
      if (!isOver) room.left += bytes;
      isOver = true;
      settle();
    };
    const complete = (isCut: boolean): void =>
      over(() => {
        const body = previous && isSame && bytes === previous.length ? previous : Buffer.concat(pieces);
        if (head) resolve({ ...head, body, isCut });
      });
    const fail = (error: unknown): void => {
      // The status of an error is enough.
      if (head && !isSuccess(head.status)) complete(true);
      else over(() => reject(error));
    };
    // Also while it waits for a connection.
    cut.addEventListener('abort', () => fail(new Error('aborted')));
    dispatcher.dispatch(optionsOf(asked), {
      // The connection is ready, and nothing was sent on it.
      onRequestStart: (controller) => {
        try {
          if (stage.sent) throw new Error('a request is never sent twice');
          cut.throwIfAborted();
          if (kind !== 'read') beforeSend?.();
          stage.sent = true;
          cut.addEventListener('abort', () => controller.abort(new Error('aborted')));
        } catch (error) {
          fail(error);
          controller.abort(new Error('not sent'));
        }
      },
      onResponseStart: (controller, status, headers) => {
        // Below 200 it is an interim answer; another one follows.
        if (isOver || status < 200) return;
        stage.answered = true;
        head = { status, headers: joined(headers) };
        if (kind !== 'message') return;
        complete(true);
        controller.abort(new Error('not needed any more'));
      },
      onResponseData: (controller, piece) => {
        if (isOver) return;
        // What equals the previous answer is not kept twice.
        const former = previous?.subarray(bytes, bytes + piece.length);
        const comesAgain = former?.equals(piece) === true;
        pieces.push(comesAgain ? former : piece);
        isSame &&= comesAgain;
        bytes += piece.length;
        room.left -= piece.length;
        if (room.left < 0) fail(tooLarge(room));
        else if (head && !isSuccess(head.status) && bytes > maxErrorBytes) complete(true);
        if (isOver) controller.abort(new Error('not needed any more'));
      },
      onResponseEnd: () => complete(false),
      onResponseError: (_, error) => fail(error),
    });
  });

/** A repeated one is a list (RFC 9110 §5.3). */
const joined = (headers: Readonly<Record<string, string | string[] | undefined>>): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );

const optionsOf = ({ method, origin, path, route, headers, body, kind }: WireRequest) => {
  const { proxy } = route;
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

const tooLarge = ({ size }: Room): WireError =>
  new WireError(
    `the answer, together with others in transfer, is larger than ${sizeText(size)}: if that is right, allow more with maxAnswerSize`,
    { fault: 'too-large', sent: true },
  );

/** Bytes of an error's body that are enough for an excerpt. */
const maxErrorBytes = 8_192;

/** Keep-alive connections to one origin. Thousands of clients of one service share them; none keeps a process alive. */
interface SharedReads {
  readonly pool: ReadPool;
  users: number;
  /** Ends connections that are being made. */
  unused: AbortController;
}

const onShared = async <T>(shared: SharedReads, use: (pool: ReadPool) => Promise<T>): Promise<T> => {
  shared.users += 1;
  try {
    return await use(shared.pool);
  } finally {
    shared.users -= 1;
    if (shared.users === 0) {
      shared.unused.abort();
      shared.unused = controller();
    }
  }
};

const sharedReads = (origin: string, route: Route): SharedReads => {
  const key = JSON.stringify([origin, route.proxy?.url, route.ca?.pem()]);
  const known = pools.get(key);
  if (known) return known;
  const pool = new Pool(origin, {
    ...noOwnTimeouts,
    connect: (_, ready) => {
      connect(origin, route, shared.unused.signal).then(
        (socket) => ready(null, socket),
        (error: unknown) => ready(wireError(error, false), null),
      );
    },
  });
  const shared: SharedReads = { pool, users: 0, unused: controller() };
  pools.set(key, shared);
  return shared;
};

/** Any number of connections may be in the making. */
const controller = (): AbortController => {
  const made = new AbortController();
  setMaxListeners(0, made.signal);
  return made;
};

const pools = new Map<string, SharedReads>();

/** Servers end idle connections too, and what is sent then fails. */
const noOwnTimeouts = {
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 4_000,
} as const;
