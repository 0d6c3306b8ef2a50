import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import { readRetryAfter } from '../lib/backoff.ts';
import { durationText } from '../model/duration.ts';
import { isSuccess, type WireAnswer } from '../network/exchange.ts';
import { isWrite, lostKind, type Call } from './call.ts';
import { HostingError, type HostingErrorKind, type Operation } from './errors.ts';
import { Breach, isFields } from './fields.ts';
import { firstWords, oneLine } from './words.ts';

/** What the messages about an answer need. */
export interface AnswerContext {
  /** The address without the path of the operation. */
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
  const { status } = sent;
  const broken = (problem: string): HostingError =>
    new HostingError(redact(problem), { operation, kind: lostKind(call, 'bad-answer'), status });
  const refusePart = (value: unknown): void => {
    const sign = Array.isArray(value) ? signOfMore(sent, value.length) : null;
    if (sign === null) return;
    throw broken(`the listing is not whole (${oneLine(sign)}), and this program reads no other pages`);
  };
  if (memo?.last != null && isSuccess(status) && sent.body === memo.last.body) {
    refusePart(memo.last.value);
    return memo.last.value;
  }
  const body = await decompressed(sent, maxAnswerSize);
  if (body === null)
    throw broken(
      oneLine(
        `the answer is compressed (${sent.headers['content-encoding']}), and is broken, in an unknown form, or larger than maxAnswerSize`,
      ),
    );
  const answer = { ...sent, body };
  const words = (): string => firstWords(answer, redact);
  if (!isSuccess(status)) throw unsuccessful(call, answer, context, words());
  if (hasTooManyValues(body, maxAnswerSize / bytesPerValue))
    throw broken(
      `the answer holds more than ${Math.floor(maxAnswerSize / bytesPerValue)} values: if that is right, allow more with maxAnswerSize`,
    );
  const value = jsonIn(body);
  if (value === undefined) throw broken(notJson(body, words()));
  if (isWrite(call) && isRefusal(value)) {
    const message = `the service answered ${status} with an error: ${words()}`;
    throw new HostingError(message, { operation, kind: 'refused', status });
  }
  refusePart(value);
  try {
    const read = await call.read(value);
    if (memo !== undefined) memo.last = { body: alone(sent.body), value: read };
    return read;
  } catch (error) {
    if (!(error instanceof Breach)) throw error;
    throw broken(`the answer breaks the contract: ${oneLine(error.message)}: ${words()}`);
  }
};

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

const adviceOn = (status: number, call: Call<unknown>, context: AnswerContext): string => {
  const places = context.places && ` (${context.places})`;
  if (status >= 300 && status < 400) return ', a redirect, which is not followed: check the base URL';
  if (status === 401) return `: it rejects the tokens${places}`;
  if (status === 403 && !isWrite(call)) return `: these tokens may not do this${places}`;
  if (status === 429) return ': too many requests';
  if (status >= 500) return ', an error of its own';
  // Every service has this path.
  if (status === 404 && fixedPlaces.has(call.operation))
    return `: there is nothing at ${context.baseUrl}${call.path}, so the base URL is probably wrong, or the service answers so to wrong tokens${places}`;
  if (status === 404 && call.operation === 'list-dns-records')
    return `: there is no subdomain ${call.parameters['subdomain']}`;
  return '';
};

const fixedPlaces: ReadonlySet<Operation> = new Set(['list-accounts', 'list-dns-templates']);

const kindOf = (status: number, call: Call<unknown>): HostingErrorKind => {
  if (status === 401 || (status === 403 && !isWrite(call))) return 'unauthorized';
  if (status === 429) return 'rate-limited';
  return isWrite(call) && refusals.has(status) ? 'refused' : lostKind(call);
};

const refusals = new Set([400, 403, 404, 409, 422]);

/** An object that is no template and says that something failed: some services answer everything with 200. */
const isRefusal = (value: unknown): boolean =>
  isFields(value) &&
  value['id'] == null &&
  value['dns_template_records'] == null &&
  (['error', 'errors'].some((key) => isSaid(value[key])) ||
    ['success', 'ok'].some((key) => value[key] === false || value[key] === 'false') ||
    /^(?:error|fail|failed|failure)$/i.test(String(value['status'])));

const isSaid = (value: unknown): boolean =>
  !(value === undefined || value === null || value === false || value === 0 || value === '') &&
  !(typeof value === 'object' && Object.keys(value).length === 0);

/** How the headers of a list of so many say that there is more; null if they do not. */
const signOfMore = ({ status, headers }: WireAnswer, length: number): string | null => {
  // The part of RFC 9110 §15.3.7 that nobody asked for.
  if (status === 206) return 'status 206';
  for (const [name, value] of Object.entries(headers)) {
    const text = String(value);
    const isMore =
      name === 'link'
        ? /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(text.slice(0, 8_192))
        : name === 'x-next-page'
          ? text !== ''
          : (totals.test(name) && Number(text) > length) || (pageCounts.test(name) && Number(text) > 1);
    if (isMore) return `${name}: ${text}`;
  }
  return null;
};

const totals = /^(?:x-)?(?:wp-)?total(?:-?(?:count|items|entries|records|results))?$/;
const pageCounts = /^(?:x-)?(?:wp-)?(?:total-?pages|pages?-?count|num-?pages)$/;

const notJson = (body: Buffer, words: string): string => {
  if (words === '') return 'the answer is empty';
  const isPage = /^\s*</.test(body.toString('latin1', 0, 100));
  return `the answer is ${isPage ? 'a page for people, so the base URL may be wrong' : 'not JSON'}: ${words}`;
};

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
const hasTooManyValues = (body: Buffer, most: number): boolean => {
  if (body.length <= most) return false;
  let values = 0;
  // An iterator would take five times as long.
  for (let at = 0; at < body.length; at += 1) {
    const octet = body[at];
    if (octet === comma || octet === bracket || octet === brace) values += 1;
  }
  return values > most;
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
  const decompress = decoders[coding];
  if (decompress === undefined) return null;
  return decompress(body, { maxOutputLength: maxSize }).catch(() => null);
};

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decoders: Readonly<Record<string, Decompress>> = {
  gzip: promisify(unzip),
  'x-gzip': promisify(unzip),
  deflate: promisify(unzip),
  br: promisify(brotliDecompress),
};
