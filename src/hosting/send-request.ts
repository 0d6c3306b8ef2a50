import type { Dispatcher } from 'undici';
import { sizeText } from '../model/size.ts';
import { incomingBody } from './body.ts';

export interface WireRequest {
  readonly method: 'GET' | 'PUT';
  readonly path: string;
  /** A form body. */
  readonly body: string | null;
  /** Milliseconds for everything: connecting, sending, and the whole answer. */
  readonly timeout: number;
  /** Asked at the moment when it is written to its connection: it throws where that must not be any more. */
  readonly beforeStart?: (() => void) | undefined;
  /** The body of the answer before, which most likely comes again: then it is that of this one too. */
  readonly former?: Buffer | null;
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

/** What answers on their way may take up, in bytes: all together that share it. */
export interface Room {
  readonly size: number;
  left: number;
}

/**
 * Sends one request, at most once, and receives its whole answer. Rejects with {@link TransportError}: at the
 * deadline, when the signal cuts it off, when there is no room for the answer, or when the network fails.
 */
export const sendRequest = (
  dispatcher: Dispatcher,
  request: WireRequest,
  room: Room,
  signal?: AbortSignal,
): Promise<WireAnswer> =>
  new Promise((resolve, reject) => {
    let connection: Dispatcher.DispatchController | null = null;
    let head: Pick<WireAnswer, 'status' | 'headers'> | null = null;
    const body = incomingBody(request.former);
    let bytes = 0;
    let settled = false;

    const settle = (finish: () => void): void => {
      if (settled) return;
      settled = true;
      room.left += bytes;
      clearTimeout(timer);
      signal?.removeEventListener('abort', cut);
      finish();
    };
    const complete = (isCut: boolean): void =>
      settle(() => {
        if (head) resolve({ ...head, body: body.whole(), cut: isCut });
        else reject(new TransportError('no answer', { sent: true }));
      });
    const fail = (message: string, tooLarge = false): void => {
      // The status of an error says all that matters, so its body may end anyhow.
      if (head && !isSuccess(head.status)) complete(true);
      else settle(() => reject(new TransportError(message, { sent: connection !== null, tooLarge })));
      connection?.abort(new Error('not needed any more'));
    };
    const isAllowed = (): boolean => {
      try {
        request.beforeStart?.();
        return true;
      } catch (error) {
        fail(error instanceof Error ? error.message : String(error));
        return false;
      }
    };
    const cut = (): void => fail('cut off: this program is stopping');
    const expire = (): void => {
      const missing = head ? 'the rest of the answer' : connection ? 'an answer' : 'a connection';
      fail(`timeout: ${missing} did not come within ${Math.round(request.timeout)} ms`);
    };
    // After a busy stretch of this program the timer comes first, and then the answer that waits in the socket.
    const timer = setTimeout(() => setImmediate(expire), request.timeout);
    signal?.addEventListener('abort', cut);

    dispatcher.dispatch(dispatchOptions(request), {
      // Called at the moment when the request is written to a connection, and not before.
      onRequestStart: (controller) => {
        if (!settled && connection === null && isAllowed()) connection = controller;
        else controller.abort(new Error('never to be sent late, or twice'));
      },
      onResponseStart: (_, status, headers) => {
        // Below 200 it is an interim answer, which another one follows.
        if (status >= 200) head = { status, headers };
      },
      onResponseData: (_, chunk) => {
        if (settled) return;
        body.add(chunk);
        bytes += chunk.length;
        room.left -= chunk.length;
        const isOverLimit = head !== null && !isSuccess(head.status) && bytes > maxErrorBytes;
        if (isOverLimit || room.left < 0)
          fail(
            `the answer, with others on their way, is larger than ${sizeText(room.size)}: if that is right, allow more with maxAnswerSize`,
            true,
          );
      },
      onResponseEnd: () => complete(false),
      onResponseError: (_, error) => fail(describe(error)),
    });
  });

/** Enough of an error's body for an excerpt. */
const maxErrorBytes = 8_192;

const dispatchOptions = ({ method, path, body }: WireRequest): Dispatcher.DispatchOptions => ({
  method,
  path,
  body,
  headers: {
    accept: 'application/json',
    'user-agent': 'dns-template-sync',
    ...(body === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
  },
  ...(method === 'PUT' ? { reset: true } : {}),
});

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Only the code and the message: the errors of undici carry the answer's bytes and more. */
const describe = ({ code, name, message }: Error & { code?: unknown }): string => {
  const kind = typeof code === 'string' ? code : name;
  const said = message.includes(kind) ? message : [kind, message].filter(Boolean).join(': ');
  const meant = inWords.find(([pattern]) => pattern.test(kind));
  return meant ? `${meant[1]} (${said})` : said;
};

/** What people make of the codes of Node.js. */
const inWords: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$/, 'there is no such host: see whether the base URL is right'],
  [/^EAI_AGAIN$/, 'the name of the host cannot be looked up at present'],
  [/^ECONNREFUSED$/, 'connection refused: nothing listens at this address and port'],
  [/^(?:EHOSTUNREACH|ENETUNREACH)$/, 'there is no way to this host'],
  [
    /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    'this port does not speak TLS: is it https:, and the right port?',
  ],
  [/^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_|ERR_TLS_CERT)/, 'its certificate is not trusted'],
  [/^HPE_/, 'what answers there does not speak HTTP: does this port want https:?'],
];
