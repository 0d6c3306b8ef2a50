import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import type { z } from 'zod';
import { brokenKind, isWrite, type Answered, type Call, type ResponseReading } from './call.ts';
import { shapeError } from './elements.ts';
import { isObject, namesError } from './error-words.ts';
import { HostingError } from './errors.ts';
import { excerpt, saidIn } from './excerpt.ts';
import { listOfAnswer } from './list-of-answer.ts';
import { nextPage } from './pages.ts';
import type { WireAnswer } from './send-request.ts';
import { apexAdvice } from './unsuccessful.ts';

/** Reads the answer of a success. */
export const readAnswer = async <T>(
  call: Call<T>,
  answer: WireAnswer,
  reading: ResponseReading,
): Promise<Answered<T>> => {
  const known = await call.reader?.read(answer.body);
  if (known != null) return pageOf(call, known, answer, null, reading);
  const fault = shapeError(answer.body, reading.wire.shape);
  if (fault !== null) throw broken(call, answer, fault, reading);
  const value = parseJson(answer.body);
  if (isWrite(call) && isRefusal(value)) throw refusal(call, answer, reading);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without a schema, the answer may be anything
  if (call.answer === null) return { value: value as T, next: null };
  if (value === notJson) throw broken(call, answer, notJsonWords(call, answer, reading), reading);
  if (call.list === undefined)
    return { value: parsed(call, call.answer, value, answer, reading), next: null };
  const found = listOfAnswer(value, reading.wire.dialect.listKey);
  if ('problem' in found)
    throw broken(call, answer, `${found.problem}: ${saidIn(answer, reading.redact)}`, reading);
  const { list, wrapper } = found;
  const again = wrapper && (await call.reader?.read(Buffer.from(JSON.stringify(list))));
  return pageOf(call, again ?? parsed(call, call.answer, list, answer, reading), answer, wrapper, reading);
};

const pageOf = <T>(
  call: Call<T>,
  value: T,
  answer: WireAnswer,
  wrapper: Readonly<Record<string, unknown>> | null,
  reading: ResponseReading,
): Answered<T> => {
  if (call.list === undefined || !Array.isArray(value)) return { value, next: null };
  const { number, before } = call.list;
  const { length } = value;
  const page = { headers: answer.headers, wrapper, length, number, total: before + length, path: call.path };
  const next = nextPage(page, reading.wire.dialect.pages);
  if (typeof next === 'string') throw broken(call, answer, next, reading);
  return { value, next };
};

const parsed = <T>(
  call: Call<T>,
  schema: z.ZodType<T>,
  value: unknown,
  answer: WireAnswer,
  reading: ResponseReading,
): T => {
  // Jitless: compiling the schema takes longer than reading what remains for it (dns-resources.ts).
  const read = schema.safeParse(value, { jitless: true });
  if (read.success) return read.data;
  const details = read.error.issues.map(
    ({ path, message }) => `${['answer', ...path].reduce<string>(place, '')} ${message}`,
  );
  // If it is something else altogether, its text may name the error.
  const isOther = read.error.issues[0]?.path.length === 0 || namesError(value);
  const words = isOther ? `: ${saidIn(answer, reading.redact)}` : '';
  const more = read.error.issues.length > 1 ? ' (and more)' : '';
  const advice = isWrite(call) ? otherAnswers : '';
  const problem = `the answer breaks the contract: ${details[0]}${more}${advice}${words}`;
  throw broken(call, answer, problem, reading, details);
};

/** An object that is no template and names an error: some services say everything with 200. */
const isRefusal = (value: unknown): boolean =>
  isObject(value) && value['id'] == null && value['dns_template_records'] == null && namesError(value);

const refusal = (call: Call<unknown>, answer: WireAnswer, { redact }: ResponseReading): HostingError => {
  const words = saidIn(answer, redact);
  const { status } = answer;
  return new HostingError(
    `the service answered ${status} with an error${apexAdvice(call, words)}: ${words}`,
    { operation: call.operation, kind: 'refused', status },
  );
};

const broken = (
  call: Call<unknown>,
  { status }: WireAnswer,
  problem: string,
  { redact }: ResponseReading,
  details: readonly string[] = [],
): HostingError =>
  new HostingError(redact(problem), {
    operation: call.operation,
    kind: brokenKind(call),
    status,
    details: details.map(redact),
  });

const notJsonWords = (call: Call<unknown>, answer: WireAnswer, { redact }: ResponseReading): string => {
  const content = excerpt(answer, redact);
  if (content === '') return `the answer is empty${isWrite(call) ? otherAnswers : ''}`;
  const isPage = /^\s*</.test(answer.body.toString('latin1', 0, 100));
  return `the answer is ${isPage ? 'a page for people, so the base URL may be wrong' : 'not JSON'}: ${content}`;
};

const otherAnswers = '; if writes are answered like this, set writeAnswers: listing';

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

/**
 * The answer with its body decompressed: some services compress without being asked to. Null if it cannot be, or is
 * larger than `maxSize` bytes.
 */
export const decoded = async (answer: WireAnswer, maxSize: number): Promise<WireAnswer | null> => {
  const coding = String(answer.headers['content-encoding'] ?? '').toLowerCase();
  if (coding === '' || coding === 'identity' || answer.body.length === 0) return answer;
  // The beginning of an error's body.
  if (answer.cut) return { ...answer, body: Buffer.alloc(0) };
  const decompress = decoders[coding];
  if (decompress === undefined) return null;
  try {
    return { ...answer, body: await decompress(answer.body, { maxOutputLength: maxSize }) };
  } catch {
    return null;
  }
};

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decoders: Readonly<Record<string, Decompress>> = {
  gzip: promisify(unzip),
  'x-gzip': promisify(unzip),
  deflate: promisify(unzip),
  br: promisify(brotliDecompress),
};
