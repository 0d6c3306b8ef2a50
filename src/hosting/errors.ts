/** The seven operations of the service, as in errors and metrics. */
export type Operation =
  | 'list-accounts'
  | 'show-account'
  | 'list-databases'
  | 'list-dns-templates'
  | 'add-dns-template-record'
  | 'update-dns-template-record'
  | 'list-dns-records';

/**
 * What callers decide by after a failed request.
 *
 * | kind           | the request                                                            |
 * |----------------|------------------------------------------------------------------------|
 * | `not-sent`     | certainly was not sent; nothing happened at the service                |
 * | `unauthorized` | 401, or 403 on a read: the tokens are rejected                         |
 * | `rate-limited` | 429: retry after `retryAfter`                                          |
 * | `refused`      | a write was processed and refused: 400, 403, 404, 409, 422             |
 * | `unknown`      | a write was sent, and only reading can show its outcome                |
 * | `unavailable`  | a read failed: network, timeout, 5xx or an unexpected status           |
 * | `bad-answer`   | a read succeeded, but its answer breaks the service's contract         |
 */
export type HostingErrorKind =
  | 'not-sent'
  | 'unauthorized'
  | 'rate-limited'
  | 'refused'
  | 'unknown'
  | 'unavailable'
  | 'bad-answer';

/** A request that failed. It carries no `cause`: what the network throws can hold bytes of the answer, and so the tokens. */
export class HostingError extends Error {
  override name = 'HostingError';
  readonly kind: HostingErrorKind;
  readonly operation: Operation;
  /** The HTTP status, if there was an answer. */
  readonly status: number | null;
  /** Milliseconds that the service asks to wait. */
  readonly retryAfter: number | null;

  constructor(
    message: string,
    about: Pick<HostingError, 'kind' | 'operation'> & Partial<Pick<HostingError, 'status' | 'retryAfter'>>,
  ) {
    super(`${about.operation.replaceAll('-', ' ')}: ${message}`);
    this.kind = about.kind;
    this.operation = about.operation;
    this.status = about.status ?? null;
    this.retryAfter = about.retryAfter ?? null;
  }
}
