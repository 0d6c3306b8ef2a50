import { isUtf8 } from 'node:buffer';
import { readRetryAfter } from '../lib/backoff.ts';
import { durationText } from '../model/duration.ts';
import { isSuccess, type WireAnswer } from '../network/exchange.ts';
import type { WireError } from '../network/wire-error.ts';
import { HostingError, type HostingErrorKind, type Operation } from './errors.ts';
import { Breach } from './resources.ts';

/** One of the operations with its parameters; a parameter that is null or undefined is not sent. */
export interface Call<T> {
  readonly operation: Operation;
  readonly isWrite: boolean;
  /** Relative to the base URL. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | number | null | undefined>>;
  /** Reads the answer; throws {@link Breach}. */
  readonly read: (value: unknown) => T | Promise<T>;
  /** The last good answer to the same, and what was read from it: the same bytes give the same again. */
  readonly memo?: { last: { readonly body: Buffer; readonly value: T } | null } | undefined;
}

/** What the messages need. */
export interface CallContext {
  readonly baseUrl: string;
  /** Where the tokens come from; empty if that is unknown. */
  readonly places: string;
  /** The proxy between; empty without one. */
  readonly via: string;
  /** Whether anything was ever answered there. */
  readonly isKnown: boolean;
  readonly redact: (text: string) => string;
  readonly now: () => number;
}

/** Reads the answer to a call. What is not as specified is refused with its first words: throws {@link HostingError}. */
export const readAnswer = async <T>(call: Call<T>, sent: WireAnswer, context: CallContext): Promise<T> => {
  const { operation, isWrite, memo } = call;
  const { status, headers, body } = sent;
  const coding = String(headers['content-encoding'] ?? 'identity');
  const words = (): string => (coding === 'identity' ? firstWords(body, context.redact) : '');
  if (!isSuccess(status)) throw unsuccessful(call, sent, words(), context);
  const broken = (problem: string): HostingError => {
    const kind = isWrite ? 'unknown' : 'bad-answer';
    return new HostingError(context.redact(problem), { operation, kind, status });
  };
  if (coding !== 'identity')
    throw broken(`the answer is compressed, which was not asked for: ${oneLine(coding)}`);
  const last = memo?.last?.body === body ? memo.last : null;
  const value = last ? last.value : jsonIn(body);
  if (body.length === 0) throw broken('the answer is empty');
  if (value === undefined) throw broken(whyNotRead(body, words()));
  const sign = Array.isArray(value) ? signOfMore(sent, value.length) : null;
  if (sign !== null)
    throw broken(`the listing is not whole (${oneLine(sign)}), and this program reads no other pages`);
  if (last) return last.value;
  try {
    const read = await call.read(value);
    if (memo) memo.last = { body, value: read };
    return read;
  } catch (error) {
    if (!(error instanceof Breach)) throw error;
    throw broken(`the answer breaks the contract: ${oneLine(`answer${error.message}`)}: ${words()}`);
  }
};

/** The error for a call without an answer. */
export const unanswered = (
  { operation, isWrite }: Call<unknown>,
  { message, fault, sent }: WireError,
  { baseUrl, via, isKnown, redact }: CallContext,
): HostingError => {
  const setting = isWrite ? 'writeTimeout' : 'requestTimeout';
  let advice = '';
  if (fault === 'timeout' && sent) advice = `: if the service needs longer, allow more with ${setting}`;
  // A port that expects TLS ends the connection, or answers in TLS.
  if (fault === 'network' && sent && !isKnown && baseUrl.startsWith('http:'))
    advice = ': does this port need https:?';
  const lost = isWrite ? 'unknown' : fault === 'too-large' ? 'bad-answer' : 'unavailable';
  return new HostingError(`${oneLine(redact(message))}${advice}${fault === 'proxy' ? '' : via}`, {
    operation,
    kind: sent ? lost : 'not-sent',
  });
};

/** The error for an answer whose status is no success. */
const unsuccessful = (
  call: Call<unknown>,
  { status, headers }: WireAnswer,
  words: string,
  context: CallContext,
): HostingError => {
  const kind = kindOf(status, call);
  const retryAfter = readRetryAfter(headers['retry-after'], context.now());
  const wait = retryAfter ? `, and asks to wait ${durationText(Math.ceil(retryAfter / 1_000) * 1_000)}` : '';
  const advice = adviceOn(status, kind, call, context);
  return new HostingError(`the service answered ${status}${advice}${wait}${words && `: ${words}`}`, {
    operation: call.operation,
    kind,
    status,
    retryAfter,
  });
};

const kindOf = (status: number, { isWrite }: Call<unknown>): HostingErrorKind => {
  if (status === 401 || (status === 403 && !isWrite)) return 'unauthorized';
  if (status === 429) return 'rate-limited';
  if (!isWrite) return 'unavailable';
  return [400, 403, 404, 409, 422].includes(status) ? 'refused' : 'unknown';
};

const adviceOn = (
  status: number,
  kind: HostingErrorKind,
  { operation, path, parameters }: Call<unknown>,
  { baseUrl, places }: CallContext,
): string => {
  const from = places && ` (${places})`;
  if (status >= 300 && status < 400) return ', a redirect, which is not followed: check the base URL';
  if (kind === 'unauthorized') return `: it rejects the tokens${from}`;
  if (status === 404 && operation === 'list-dns-records')
    return `: there is no subdomain ${parameters['subdomain']}`;
  // Every service has these paths.
  if (status === 404 && ['list-accounts', 'list-dns-templates'].includes(operation))
    return `: there is nothing at ${baseUrl}${path}, so the base URL is probably wrong, or the service answers so to wrong tokens${from}`;
  return '';
};

/** How the headers of a list of so many say that there is more; null if they do not. */
const signOfMore = ({ status, headers }: WireAnswer, length: number): string | null => {
  // The part of RFC 9110 §15.3.7 that nobody asked for.
  if (status === 206) return 'status 206';
  const link = String(headers['link'] ?? '');
  if (/;\s*rel\s*=\s*"?[^";,]*\bnext\b/i.test(link)) return `link: ${link}`;
  // `items 0-1/9`; the number of the next page, or nothing.
  const ofRange = Number(/\/(\d+)$/.exec(String(headers['content-range'] ?? ''))?.[1]);
  const isMore = (name: string): boolean => Number(headers[name]) > (name === 'x-next-page' ? 0 : length);
  const sign =
    ofRange > length
      ? 'content-range'
      : ['total', 'total-count', 'x-total', 'x-total-count', 'x-next-page'].find(isMore);
  return sign === undefined ? null : `${sign}: ${String(headers[sign])}`;
};

const jsonIn = (body: Buffer): unknown => {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
};

/** Fatal: what another encoding has would become U+FFFD, in the files of `import` and at the service. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

const whyNotRead = (body: Buffer, words: string): string => {
  // Only a service answers so, not what else may be at a wrong address.
  const isLikeJson = /^\s*[[{]/.test(body.toString('utf8', 0, 99));
  if (!isLikeJson) return `the answer is not JSON, so the base URL may be wrong: ${words}`;
  return isUtf8(body) ? `the answer is cut off or damaged: ${words}` : 'the answer is not UTF-8';
};

/** How the body of an answer begins: one short line without markup, control characters and secrets, whatever it is. */
const firstWords = (body: Buffer, redact: (text: string) => string): string => {
  const text = redact(body.subarray(0, 8_192).toString('utf8'));
  // A secret at the end of what was taken would not be recognised.
  const whole = body.length > 8_192 ? text.slice(0, -4_096) : text;
  return oneLine(whole.replace(/<(script|style)\b.*?<\/\1\s*>|<[^>]*>/gis, ' '));
};

/** One line of at most 200 characters, without terminal controls. */
const oneLine = (text: string): string => {
  const line = text.replace(/[\p{C}\p{Z}\uFFFD]+/gu, ' ').trim();
  return line.length > 200 ? `${Array.from(line).slice(0, 200).join('')}…` : line;
};
