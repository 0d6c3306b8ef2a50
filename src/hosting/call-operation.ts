import { redactor } from '../secrets.ts';
import { brokenKind, lostKind, type Answered, type Call, type ResponseReading, type Wire } from './call.ts';
import { decoded, readAnswer } from './read-answer.ts';
import { HostingError } from './errors.ts';
import { oneLine } from './excerpt.ts';
import { requestOf } from './parameters.ts';
import { isSuccess, TransportError, type WireAnswer } from './send-request.ts';
import { unsuccessful } from './unsuccessful.ts';

/** Makes one request and returns its checked answer. Throws {@link HostingError} without secrets. */
export const callOperation = async <T>(call: Call<T>, timeout: number, wire: Wire): Promise<Answered<T>> => {
  const tokens = wire.tokens();
  const redact = (text: string): string => redactor([tokens.userToken, tokens.clientToken])(text);
  const previous = call.reader?.previous() ?? null;
  const request = { ...requestOf(call, tokens, wire.dialect, wire.basePath), timeout, previous };
  const started = performance.now();
  let status: number | null = null;
  let error: string | undefined;
  try {
    const sent = await wire.send(request);
    status = sent.status;
    const answer = await decoded(sent, wire.maxAnswerSize);
    if (answer === null) throw unreadable(call, sent);
    const reading = { redact, wire, tokens };
    if (!isSuccess(answer.status)) throw unsuccessful(call, answer, reading);
    const read = await readAnswer(call, answer, reading);
    wire.proven[call.method] = true;
    return read;
  } catch (thrown) {
    const failure = thrown instanceof TransportError ? withoutAnswer(call, thrown, redact, wire) : thrown;
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

const withoutAnswer = (
  call: Call<unknown>,
  error: TransportError,
  redact: ResponseReading['redact'],
  { origin, proven, via }: Wire,
): HostingError =>
  new HostingError(
    `${oneLine(redact(error.message))}${mayNeedTls(error, origin, proven) ? needsTls : ''}${error.message.includes('the proxy ') ? '' : via}`,
    {
      operation: call.operation,
      kind: error.sent ? (error.tooLarge ? brokenKind(call) : lostKind(call)) : 'not-sent',
    },
  );

/** A port that expects TLS ends the connection, or answers in TLS. */
const mayNeedTls = ({ sent, message }: TransportError, origin: string, proven: Wire['proven']): boolean =>
  origin.startsWith('http:') && sent && !proven.GET && /ended the connection|is not HTTP/.test(message);

const needsTls = ': does this port need https:?';

const unreadable = (call: Call<unknown>, { status, headers }: WireAnswer): HostingError =>
  new HostingError(
    oneLine(
      `the answer is compressed (${String(headers['content-encoding'])}), and is broken, in an unknown form, or larger than maxAnswerSize`,
    ),
    { operation: call.operation, kind: brokenKind(call), status },
  );
