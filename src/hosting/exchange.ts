import type { ClientRequest, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';

export interface WireRequest {
  readonly method: 'GET' | 'PUT';
  readonly path: string;
  /** A form body. */
  readonly body: string | null;
  /** Milliseconds for everything: connecting, sending, and the whole answer. */
  readonly timeout: number;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** True if the body was not received to its end, which happens to the bodies of errors only. */
  readonly cut: boolean;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Why there is no answer. Its message is the network's: it is scrubbed before anybody sees it. */
export class TransportError extends Error {
  override name = 'TransportError';
  /** False only if it is certain that no part of the request was sent. */
  readonly sent: boolean;
  readonly tooLarge: boolean;

  constructor(message: string, { sent, tooLarge = false }: { sent: boolean; tooLarge?: boolean }) {
    super(message);
    this.sent = sent;
    this.tooLarge = tooLarge;
  }
}

/** Makes a request that leaves when it is ended, and not before. */
export interface Sender {
  readonly open: (options: RequestOptions) => ClientRequest;
  /** What a socket tells when a request can leave on it. */
  readonly connected: 'connect' | 'secureConnect';
  /** Milliseconds. */
  readonly connectTimeout: number;
}

/**
 * Sends one request, at most once, and receives its whole answer. Rejects with {@link TransportError}: at the
 * deadline, when the signal cuts it off, when the answer is larger than `maxBytes`, or when the network fails.
 */
export const exchange = (
  { open, connected, connectTimeout }: Sender,
  request: WireRequest,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<WireAnswer> =>
  new Promise((resolve, reject) => {
    let sent = false;
    let head: Pick<WireAnswer, 'status' | 'headers'> | null = null;
    const chunks: Buffer[] = [];
    let bytes = 0;
    let settled = false;

    const settle = (finish: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(connecting);
      clearTimeout(timer);
      signal?.removeEventListener('abort', cut);
      finish();
    };
    const complete = (isCut: boolean): void =>
      settle(() => {
        if (head) resolve({ ...head, body: Buffer.concat(chunks), cut: isCut });
        else reject(new TransportError('no answer', { sent }));
      });
    const fail = (message: string, tooLarge = false): void => {
      // The status of an error says all that matters, so its body may end anyhow.
      if (head && !isSuccess(head.status)) complete(true);
      else settle(() => reject(new TransportError(message, { sent, tooLarge })));
      wire.destroy();
    };
    const cut = (): void => fail('cut off: this program is stopping');
    const expire = (within: number): void => {
      const missing = head ? 'the rest of the answer' : sent ? 'an answer' : 'a connection';
      fail(`timeout: ${missing} did not come within ${Math.round(within)} ms`);
    };
    const expireAfter = (time: number, unless: () => boolean = () => false): NodeJS.Timeout =>
      // After a busy stretch of this program the timer comes first, and then what waits in the socket.
      setTimeout(() => setImmediate(() => !unless() && expire(time)), time);

    const wire = open(optionsOf(request));
    const connecting = expireAfter(connectTimeout, () => sent);
    const timer = expireAfter(request.timeout);
    signal?.addEventListener('abort', cut);

    wire.on('socket', (socket) =>
      whenConnected(socket, connected, () => {
        // Never late, when its failure has been told.
        if (settled) return;
        sent = true;
        clearTimeout(connecting);
        wire.end(request.body ?? undefined);
      }),
    );
    wire.on('response', (answer) => {
      // An interim answer does not come here.
      const status = answer.statusCode ?? 0;
      head = { status, headers: answer.headers };
      const limit = isSuccess(status) ? maxBytes : Math.min(maxErrorBytes, maxBytes);
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > limit) fail(`the answer is larger than ${maxBytes} bytes`, true);
      });
      answer.on('end', () => (answer.complete ? complete(false) : fail('the answer was cut short')));
      answer.on('error', (error) => fail(describe(error)));
    });
    wire.on('error', (error) => fail(describe(error)));
    wire.on('close', () => fail('the connection was closed'));
  });

/** Sockets on which a request has left before. */
const used = new WeakSet<Socket>();

/** The request leaves only then: an error before it, in a handshake too, means that no part of it was sent. */
const whenConnected = (socket: Socket, connected: Sender['connected'], task: () => void): void => {
  if (used.has(socket)) {
    task();
    return;
  }
  socket.once(connected, () => {
    used.add(socket);
    task();
  });
};

/** Enough of an error's body for an excerpt. */
const maxErrorBytes = 8_192;

const optionsOf = ({ method, path, body }: WireRequest): RequestOptions => ({
  method,
  path,
  headers: {
    accept: 'application/json',
    'user-agent': 'dns-template-sync',
    ...(body === null ? {} : formHeaders(body)),
  },
});

const formHeaders = (body: string): Record<string, string | number> => ({
  'content-type': 'application/x-www-form-urlencoded',
  'content-length': Buffer.byteLength(body),
});

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Only the code and the message: errors of the network carry the answer's bytes and more. */
const describe = ({ code, name, message }: Error & { code?: unknown }): string => {
  const kind = typeof code === 'string' ? code : name;
  return message.includes(kind) ? message : [kind, message].filter(Boolean).join(': ');
};
