import type { HostingErrorKind, Operation } from './errors.ts';

/** One of the operations with its parameters; a parameter that is null or undefined is not sent. */
export interface Call<T> {
  readonly operation: Operation;
  readonly method: 'GET' | 'PUT';
  /** Relative to the base URL. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | number | null | undefined>>;
  /** Reads the answer; throws `Breach`. */
  readonly read: (value: unknown) => T | Promise<T>;
  /** For what is asked for again and again. */
  readonly memo?: Memo<T>;
}

/** The last good answer, as its bytes came, and what was read from them: the same bytes give the same again. */
export interface Memo<T> {
  last: { readonly body: Buffer; readonly value: T } | null;
}

export interface Tokens {
  readonly userToken: string;
  readonly clientToken: string;
  /** Where the tokens come from, for error messages. */
  readonly places?: string;
}

export const isWrite = ({ method }: Call<unknown>): boolean => method === 'PUT';

/** What a failure means for a call that was sent. */
export const lostKind = (
  call: Call<unknown>,
  ofRead: 'unavailable' | 'bad-answer' = 'unavailable',
): HostingErrorKind => (isWrite(call) ? 'unknown' : ofRead);
