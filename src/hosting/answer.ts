import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import { readRetryAfter } from '../lib/backoff.ts';
import { durationText } from '../model/duration.ts';
import { isSuccess, type WireAnswer } from '../network/exchange.ts';
import { HostingError, type HostingErrorKind, type Operation } from './errors.ts';
import { Breach, isFields } from './resources.ts';

/** One of the operations with its parameters; a parameter that is null or undefined is not sent. */
export interface Call<T> {
  readonly operation: Operation;
  readonly isWrite: boolean;
  /** Relative to the base URL. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | number | null | undefined>>;
  /** Reads the answer; throws {@link Breach}. */
  readonly read: (value: unknown) => T | Promise<T>;
  /** For what is asked for again and again. */
  readonly memo?: Memo<T> | undefined;
}

/** The last good answer as it came, and what was read from it: the same bytes give the same again. */
export interface Memo<T> {
  last: { readonly body: Buffer; readonly value: T } | null;
}

/** What the messages about an answer need. */
export interface AnswerContext {
  readonly baseUrl: string;
  /** Where the tokens come from; empty if that is unknown. */
  readonly places: string;
  /** The proxy between; empty without one. */
  readonly via: string;
  readonly redact: (text: string) => string;
  readonly now: () => number;
  readonly maxAnswerSize: number;
}

/** Reads the answer to a call. What is not as specified is refused with its first words: throws {@link HostingError}. */
export const readAnswer = async <T>(call: Call<T>, sent: WireAnswer, context: AnswerContext): Promise<T> => {
  const { operation, memo } = call;
  const { redact, maxAnswerSize } = context;
  const { status, headers } = sent;
  const failed = (kind: HostingErrorKind, problem: string): HostingError =>
    new HostingError(redact(problem), { operation, kind, status });
  const broken = (problem: string): HostingError => failed(lostKind(call, 'bad-answer'), problem);
  const refusePart = (value: unknown): void => {
    const sign = Array.isArray(value) ? signOfMore(sent, value.length) : null;
    if (sign !== null)
      throw broken(`the listing is not whole (${oneLine(sign)}), and this program reads no other pages`);
  };
  if (memo?.last && isSuccess(status) && sent.body === memo.last.body) {
    refusePart(memo.last.value);
    return memo.last.value;
  }
  const body = await decompressed(sent, maxAnswerSize);
  if (body === null)
    throw broken(
      `the answer is compressed (${oneLine(headers['content-encoding'] ?? '')}), and is broken, in an unknown form, or larger than maxAnswerSize`,
    );
  const words = (): string => firstWords(body, sent.isCut, redact);
  if (!isSuccess(status)) throw unsuccessful(call, sent, context, words());
  const mostValues = Math.floor(maxAnswerSize / bytesPerValue);
  if (body.length > mostValues && valuesIn(body) > mostValues)
    throw broken(
      `the answer holds more than ${mostValues} values: if that is right, allow more with maxAnswerSize`,
    );
  const value = jsonIn(body);
  if (value === undefined) {
    const isPage = /^\s*</.test(body.toString('latin1', 0, 100));
    const what = isPage ? 'a page for people, so the base URL may be wrong' : 'not JSON';
    throw broken(words() === '' ? 'the answer is empty' : `the answer is ${what}: ${words()}`);
  }
  if (call.isWrite && isRefusal(value))
    throw failed('refused', `the service answered ${status} with an error: ${words()}`);
  refusePart(value);
  try {
    const read = await call.read(value);
    if (memo) memo.last = { body: alone(sent.body), value: read };
    return read;
  } catch (error) {
    if (!(error instanceof Breach)) throw error;
    throw broken(`the answer breaks the contract: ${oneLine(error.message)}: ${words()}`);
  }
};

/** What a failure means for a call that was sent. */
export const lostKind = (
  { isWrite }: Call<unknown>,
  ofRead: 'unavailable' | 'bad-answer' = 'unavailable',
): HostingErrorKind => (isWrite ? 'unknown' : ofRead);

/** Small answers share a slab of 64 KiB, all of which one that is kept would keep. */
const alone = (body: Buffer): Buffer =>
  body.length < body.buffer.byteLength / 2 ? Buffer.from(Uint8Array.from(body).buffer) : body;

/** The error for an answer whose status is no success. */
const unsuccessful = (
  call: Call<unknown>,
  { status, headers }: WireAnswer,
  context: AnswerContext,
  words: string,
): HostingError => {
  const retryAfter = readRetryAfter(headers['retry-after'], context.now());
  const wait = retryAfter ? `, and asks to wait ${durationText(Math.ceil(retryAfter / 1_000) * 1_000)}` : '';
  // An error of this kind may be the proxy's own.
  const via = status >= 500 || [403, 407].includes(status) ? context.via : '';
  const advice = adviceOn(status, call, context);
  return new HostingError(`the service answered ${status}${via}${advice}${wait}${words && `: ${words}`}`, {
    operation: call.operation,
    kind: kindOf(status, call),
    status,
    retryAfter,
  });
};

const adviceOn = (
  status: number,
  { operation, isWrite, path, parameters }: Call<unknown>,
  context: AnswerContext,
): string => {
  const places = context.places && ` (${context.places})`;
  if (status >= 300 && status < 400) return ', a redirect, which is not followed: check the base URL';
  if (status === 401) return `: it rejects the tokens${places}`;
  if (status === 403 && !isWrite) return `: these tokens may not do this${places}`;
  if (status === 429) return ': too many requests';
  if (status >= 500) return ', an error of its own';
  // Every service has these paths.
  if (status === 404 && ['list-accounts', 'list-dns-templates'].includes(operation))
    return `: there is nothing at ${context.baseUrl}${path}, so the base URL is probably wrong, or the service answers so to wrong tokens${places}`;
  if (status === 404 && operation === 'list-dns-records')
    return `: there is no subdomain ${parameters['subdomain']}`;
  return '';
};

const kindOf = (status: number, call: Call<unknown>): HostingErrorKind => {
  if (status === 401 || (status === 403 && !call.isWrite)) return 'unauthorized';
  if (status === 429) return 'rate-limited';
  return call.isWrite && [400, 403, 404, 409, 422].includes(status) ? 'refused' : lostKind(call);
};

/** An object that is no template and says that something failed: some services answer everything with 200. */
const isRefusal = (value: unknown): boolean => {
  if (!isFields(value) || value['id'] != null || value['dns_template_records'] != null) return false;
  const { error, errors, success, status } = value;
  const isSaid = [error, errors].some((said) => said && !['[]', '{}'].includes(JSON.stringify(said)));
  return isSaid || success === false || status === 'error';
};

/** How the headers of a list of so many say that there is more; null if they do not. */
const signOfMore = ({ status, headers }: WireAnswer, length: number): string | null => {
  // The part of RFC 9110 §15.3.7 that nobody asked for.
  if (status === 206) return 'status 206';
  for (const [name, value] of Object.entries(headers)) {
    const text = String(value);
    const isMore =
      (name === 'link' && nextLink.test(text.slice(0, 8_192))) ||
      (name === 'x-next-page' && text !== '') ||
      (totals.test(name) && Number(text) > length) ||
      (pageCounts.test(name) && Number(text) > 1);
    if (isMore) return `${name}: ${text}`;
  }
  return null;
};

const nextLink = /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i;
const totals = /^(?:x-)?(?:wp-)?total(?:-?(?:count|items|entries|records|results))?$/;
const pageCounts = /^(?:x-)?(?:wp-)?(?:total-?pages|pages?-?count|num-?pages)$/;

const jsonIn = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
};

/**
 * Values take up to thirty times their size once they are parsed, so a small answer could take all memory. Commas and
 * opening brackets are counted, also within texts.
 */
const valuesIn = (body: Buffer): number => {
  let values = 0;
  // An iterator would take five times as long.
  for (let at = 0; at < body.length; at += 1) {
    const octet = body[at];
    if (octet === comma || octet === bracket || octet === brace) values += 1;
  }
  return values;
};

/** A record takes a dozen bytes a value. */
const bytesPerValue = 32;

const [comma, bracket, brace] = [0x2c, 0x5b, 0x7b];

/** Some services compress without being asked to. Null if that cannot be undone, or gives more than `maxSize` bytes. */
const decompressed = async (
  { headers, body, isCut }: WireAnswer,
  maxSize: number,
): Promise<Buffer | null> => {
  const coding = (headers['content-encoding'] ?? '').toLowerCase();
  if (coding === '' || coding === 'identity' || body.length === 0) return body;
  // The beginning of an error's body.
  if (isCut) return Buffer.alloc(0);
  const decompress = coding === 'br' ? promisify(brotliDecompress) : promisify(unzip);
  return decompress(body, { maxOutputLength: maxSize }).catch(() => null);
};

/** How the body of an answer begins: one short line without markup, control characters and secrets, whatever it is. */
const firstWords = (body: Buffer, isCut: boolean, redact: (text: string) => string): string => {
  const text = redact(body.subarray(0, 8_192).toString('utf8'));
  // A cut body may end inside a secret, which would not be recognised, so the end is dropped.
  const whole = isCut || body.length > 8_192 ? text.slice(0, -4_096) : text;
  return oneLine(whole.replace(/<(script|style)\b.*?<\/\1\s*>|<[^>]*>/gis, ' '));
};

/** One line of at most 200 characters, without terminal controls. */
export const oneLine = (text: string): string => {
  const line = text.replace(/[\p{C}\p{Z}\uFFFD]+/gu, ' ').trim();
  return line.length > 200 ? `${Array.from(line).slice(0, 200).join('')}…` : line;
};
