import type { Dispatcher } from 'undici';
import { sizeText } from '../model/size.ts';
import { incomingBody } from './body.ts';

export interface WireRequest {
  readonly method: 'GET' | 'PUT';
  readonly path: string;
  readonly body: { readonly type: string; readonly text: string } | null;
  /** More headers, as for a proxy. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds for everything: connecting, sending, and the whole answer. */
  readonly timeout: number;
  /** Called just before it is written to its connection; throws if it must not be sent any more. */
  readonly beforeStart?: (() => void) | undefined;
  /** The previous answer, which most likely comes again and is then reused. */
  readonly previous?: Buffer | null;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** True if the body is incomplete, which only happens with errors. */
  readonly cut: boolean;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Why there is no answer. The message comes from the network and must be redacted before it is shown. */
export class TransportError extends Error {
  override name = 'TransportError';
  /** False only if certainly no part of the request was sent. */
  readonly sent: boolean;
  readonly tooLarge: boolean;

  constructor(message: string, { sent, tooLarge = false }: { sent: boolean; tooLarge?: boolean }) {
    super(message);
    this.sent = sent;
    this.tooLarge = tooLarge;
  }
}

/** The memory for incoming answers, in bytes, shared by several requests. */
export interface Room {
  readonly size: number;
  left: number;
}

/**
 * Sends one request, at most once, and receives its whole answer. Rejects with {@link TransportError}: at the
 * deadline, when aborted, when the answer is too large, or when the network fails.
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
    const body = incomingBody(request.previous);
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
      // The status of an error is enough, so its body may be incomplete.
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
    const cut = (): void => fail('aborted: this program is shutting down');
    const expire = (): void => {
      const missing = head ? 'the rest of the answer' : connection ? 'an answer' : 'a connection';
      const setting = request.method === 'PUT' ? 'writeTimeout' : 'requestTimeout';
      const advice = connection ? `: if the service needs longer, allow more with ${setting}` : '';
      fail(`timeout: ${missing} did not come within ${Math.round(request.timeout)} ms${advice}`);
    };
    // After a blocked event loop the timer fires before the answer that waits in the socket is read.
    const timer = setTimeout(() => setImmediate(expire), request.timeout);
    signal?.addEventListener('abort', cut);

    dispatcher.dispatch(dispatchOptions(request), {
      // Called when the request is written to a connection, not before.
      onRequestStart: (controller) => {
        if (!settled && connection === null && isAllowed()) connection = controller;
        else controller.abort(new Error('a request is never sent late or twice'));
      },
      onResponseStart: (_, status, headers) => {
        // Below 200 it is an interim answer; another one follows.
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
            `the answer, together with others in transfer, is larger than ${sizeText(room.size)}: if that is right, allow more with maxAnswerSize`,
            true,
          );
      },
      onResponseEnd: () => complete(false),
      onResponseError: (_, error) => fail(describe(error)),
    });
  });

/** Bytes of an error's body that are enough for an excerpt. */
const maxErrorBytes = 8_192;

const dispatchOptions = ({ method, path, body, headers = {} }: WireRequest): Dispatcher.DispatchOptions => ({
  method,
  path,
  body: body?.text ?? null,
  headers: {
    accept: 'application/json',
    'user-agent': 'dns-template-sync',
    ...(body === null ? {} : { 'content-type': body.type }),
    ...headers,
  },
  ...(method === 'PUT' ? { reset: true } : {}),
});

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Only the code and the message: undici's errors contain the answer's bytes and more. */
const describe = ({ code, name, message }: Error & { code?: unknown }): string => {
  if (name === 'ProxyError') return message;
  const kind = typeof code === 'string' ? code : name;
  const said = message.includes(kind) ? message : [kind, message].filter(Boolean).join(': ');
  const meant = inWords.find(([pattern]) => pattern.test(kind));
  // What OpenSSL adds to such a code are places in its own source.
  return meant ? `${meant[1]} (${kind.startsWith('ERR_SSL_') ? kind : said})` : said;
};

/** The error codes of Node.js in words. */
const inWords: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$/, 'there is no such host: check the base URL'],
  [/^EAI_AGAIN$/, 'the host name cannot be resolved at the moment'],
  [/^ECONNREFUSED$/, 'connection refused: nothing listens at this address and port'],
  [/^(?:UND_ERR_SOCKET|ECONNRESET)$/, 'the service ended the connection before its answer was complete'],
  [/^(?:EHOSTUNREACH|ENETUNREACH)$/, 'there is no route to this host'],
  [
    /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    'this port does not use TLS: check https: and the port',
  ],
  [
    /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_|ERR_TLS_CERT)/,
    'its certificate is not trusted: if it comes from an authority of your own, name that with ca or NODE_EXTRA_CA_CERTS',
  ],
  [/^HPE_/, 'the answer is not HTTP'],
];
