/** What ended a request without an answer; `damaged`: after its status line. */
export type WireFault = 'timeout' | 'aborted' | 'too-large' | 'proxy' | 'network' | 'damaged';

/** Why there is no answer. The message comes from the network: redact it before it is shown. */
export class WireError extends Error {
  override name = 'WireError';
  readonly fault: WireFault;
  /** False only if certainly no part of the request was sent. */
  readonly sent: boolean;
  /** The code of the error; it shows no address. */
  readonly code: string;

  constructor(message: string, fault: WireFault, sent: boolean, code: string = fault) {
    super(message);
    this.fault = fault;
    this.sent = sent;
    this.code = code;
  }
}

/** Anything that a socket or the parser of HTTP throws. Only code and message: such errors hold bytes of answers, and more. */
export const wireError = (thrown: unknown, sent: boolean, fault: WireFault = 'network'): WireError => {
  if (thrown instanceof WireError) return thrown;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  // Of a host with several addresses, Node.js says what became of each in errors of their own.
  const message =
    error instanceof AggregateError
      ? error.errors.map(({ message: one }: Error) => one).join('; ')
      : error.message;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (code === null) return new WireError(message, fault, sent, error.name);
  const said = message.includes(code) ? message : `${code}: ${message}`;
  const meant = inWords.find(([pattern]) => pattern.test(code));
  // What OpenSSL adds to such a code are places in its own source.
  const text = meant ? `${meant[1]} (${code.startsWith('ERR_SSL_') ? code : said})` : said;
  return new WireError(text, fault, sent, code);
};

/** The error codes of Node.js in words. */
const inWords: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$/, 'there is no such host: check the base URL'],
  [/^EAI_AGAIN$/, 'the host name cannot be resolved at the moment'],
  [/^ECONNREFUSED$/, 'connection refused: nothing listens at this address and port'],
  [
    /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
    'the service ended the connection before its answer was complete',
  ],
  [
    /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    'this port does not use TLS: check https: and the port',
  ],
  [
    /^ERR_SSL_(?:UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|TLSV1_ALERT_PROTOCOL_VERSION)$/,
    'the service speaks only an old version of TLS: this program needs TLS 1.2 or later',
  ],
  [
    /^ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED$/,
    'the service wants a client certificate, and this program has none to give',
  ],
  [
    /^ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE$/,
    'the service ended the TLS handshake: it may want a client certificate, which this program has none of, or other ciphers',
  ],
];
