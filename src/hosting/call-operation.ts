import type { z } from 'zod';
import { readRetryAfter } from '../lib/retry-after.ts';
import { redactor } from '../secrets.ts';
import { shapeError, type Shape } from './elements.ts';
import { HostingError, type HostingErrorKind, type Operation } from './errors.ts';
import { excerpt, oneLine } from './excerpt.ts';
import { isSuccess, TransportError, type WireAnswer, type WireRequest } from './send-request.ts';

/** One of the operations with its parameters; a parameter that is null or undefined is not sent. */
export interface Call<T> {
  readonly operation: Operation;
  readonly method: 'GET' | 'PUT';
  /** Relative to the base URL. */
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string | number | null | undefined>>;
  /** The schema of the answer. */
  readonly answer: z.ZodType<T>;
  readonly reader?: BodyReader<T>;
}

/** A faster parser, for calls whose answers are mostly alike. */
export interface BodyReader<T> {
  /** Null if the schema has to read it and name its errors. */
  readonly read: (body: Buffer) => Promise<T | null>;
  /** The previous body. */
  readonly previous: () => Buffer | null;
}

export interface Tokens {
  readonly userToken: string;
  readonly clientToken: string;
  /** Where the tokens come from, for error messages. */
  readonly places?: string;
}

/** One request for metrics and logs, without secrets. */
export interface RequestTrace {
  readonly operation: Operation;
  /** Null if there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly error?: string;
}

interface Wire {
  readonly origin: string;
  readonly basePath: string;
  readonly tokens: () => Tokens;
  readonly getParameters: 'query' | 'body';
  /** The limits of an answer. */
  readonly shape: Shape;
  readonly send: (request: WireRequest) => Promise<WireAnswer>;
  readonly onRequest: ((trace: RequestTrace) => void) | undefined;
}

/** Makes one request and returns its checked answer. Throws {@link HostingError} without secrets. */
export const callOperation = async <T>(call: Call<T>, timeout: number, wire: Wire): Promise<T> => {
  const tokens = wire.tokens();
  const redact = (text: string): string => redactor([tokens.userToken, tokens.clientToken])(text);
  const request = requestOf(call, tokens, timeout, wire);
  const started = performance.now();
  let status: number | null = null;
  let error: string | undefined;
  try {
    const answer = await wire.send(request);
    status = answer.status;
    return await readAnswer(call, answer, { redact, wire, tokens });
  } catch (thrown) {
    const failure = thrown instanceof TransportError ? withoutAnswer(call, thrown, redact) : thrown;
    error = failure instanceof HostingError ? failure.message : 'defect';
    throw failure;
  } finally {
    const durationMs = performance.now() - started;
    wire.onRequest?.({
      operation: call.operation,
      status,
      durationMs,
      ...(error === undefined ? {} : { error }),
    });
  }
};

const requestOf = (call: Call<unknown>, tokens: Tokens, timeout: number, wire: Wire): WireRequest => {
  const previous = call.reader?.previous() ?? null;
  const form = new URLSearchParams({ user_token: tokens.userToken, client_token: tokens.clientToken });
  for (const [name, value] of Object.entries(call.parameters ?? {}))
    if (value !== null && value !== undefined) form.set(name, String(value));
  const path = `${wire.basePath}${call.path}`;
  return call.method === 'GET' && wire.getParameters === 'query'
    ? { method: call.method, path: `${path}?${form.toString()}`, body: null, timeout, previous }
    : { method: call.method, path, body: form.toString(), timeout, previous };
};

type RedactText = (text: string) => string;

const withoutAnswer = (call: Call<unknown>, error: TransportError, redact: RedactText): HostingError =>
  new HostingError(oneLine(redact(error.message)), {
    operation: call.operation,
    kind: error.sent ? (error.tooLarge ? brokenKind(call) : lostKind(call)) : 'not-sent',
  });

/** The context for reading an answer. */
interface ResponseReading {
  readonly redact: RedactText;
  readonly wire: Wire;
  readonly tokens: Tokens;
}

const readAnswer = async <T>(call: Call<T>, answer: WireAnswer, reading: ResponseReading): Promise<T> => {
  const { redact } = reading;
  const { shape } = reading.wire;
  if (!isSuccess(answer.status)) throw unsuccessful(call, answer, reading);
  const known = await call.reader?.read(answer.body);
  if (known != null) return known;
  const broken = (problem: string, details: readonly string[] = []): HostingError =>
    new HostingError(redact(problem), {
      operation: call.operation,
      kind: brokenKind(call),
      status: answer.status,
      details: details.map(redact),
    });

  const fault = shapeError(answer.body, shape);
  if (fault !== null) throw broken(fault);
  const value = parseJson(answer.body);
  if (value === notJson) {
    const content = excerpt(answer, redact);
    const isPage = /^\s*</.test(answer.body.toString('latin1', 0, 100));
    const kind = isPage ? 'a page for people, so the base URL may be wrong' : 'not JSON';
    throw broken(content === '' ? 'the answer is empty' : `the answer is ${kind}: ${content}`);
  }
  // Jitless: compiling the schema takes longer than reading what remains for it (dns-resources.ts).
  const read = call.answer.safeParse(value, { jitless: true });
  if (read.success) return read.data;
  const details = read.error.issues.map(
    ({ path, message }) => `${['answer', ...path].reduce<string>(place, '')} ${message}`,
  );
  // If it is something else altogether, its text may name the error.
  const words = read.error.issues[0]?.path.length === 0 ? `: ${excerpt(answer, redact)}` : '';
  const more = read.error.issues.length > 1 ? ' (and more)' : '';
  throw broken(`the answer breaks the contract: ${details[0]}${more}${words}`, details);
};

const unsuccessful = (
  call: Call<unknown>,
  answer: WireAnswer,
  { redact, wire, tokens }: ResponseReading,
): HostingError => {
  const words = excerpt(answer, redact);
  const advice = adviceOn(answer.status, call, wire, tokens);
  return new HostingError(`the service answered ${answer.status}${advice}${words && `: ${words}`}`, {
    operation: call.operation,
    kind: kindOfStatus(answer.status, call),
    status: answer.status,
    retryAfter: readRetryAfter(answer.headers['retry-after']),
  });
};

const adviceOn = (
  status: number,
  call: Call<unknown>,
  { origin, basePath }: Wire,
  tokens: Tokens,
): string => {
  if (status >= 300 && status < 400) return isMoved;
  const places = tokens.places ? ` (${tokens.places})` : '';
  if (status === 401) return `: it rejects the tokens${places}`;
  if (status === 403 && !isWrite(call)) return `: these tokens may not do this${places}`;
  if (status === 429) return ': too many requests';
  if (status >= 500) return ', an error of its own';
  // Every service has this path.
  if (status === 404 && fixedPlaces.has(call.operation))
    return `: there is nothing at ${origin}${basePath}${call.path}, so the base URL is probably wrong`;
  if (status === 404 && call.operation === 'list-dns-records')
    return `: there is no subdomain ${call.parameters?.['subdomain']}`;
  return '';
};

const fixedPlaces: ReadonlySet<Operation> = new Set(['list-accounts', 'list-dns-templates']);

const isMoved = ', a redirect, which is not followed: check the base URL';

const kindOfStatus = (status: number, call: Call<unknown>): HostingErrorKind => {
  if (status === 401 || (status === 403 && !isWrite(call))) return 'unauthorized';
  if (status === 429) return 'rate-limited';
  return isWrite(call) && refusals.has(status) ? 'refused' : lostKind(call);
};

const refusals = new Set([400, 403, 404, 409, 422]);
const isWrite = (call: Call<unknown>): boolean => call.method === 'PUT';
const lostKind = (call: Call<unknown>): HostingErrorKind => (isWrite(call) ? 'unknown' : 'unavailable');
const brokenKind = (call: Call<unknown>): HostingErrorKind => (isWrite(call) ? 'unknown' : 'bad-answer');

const notJson = Symbol('not JSON');

const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return notJson;
  }
};

const place = (path: string, key: PropertyKey): string =>
  typeof key === 'number' ? `${path}[${key}]` : path === '' ? String(key) : `${path}.${String(key)}`;
