import { readRetryAfter } from '../lib/backoff.ts';
import { isWrite, lostKind, type Call, type ResponseReading } from './call.ts';
import { HostingError, type HostingErrorKind, type Operation } from './errors.ts';
import { excerpt } from './excerpt.ts';
import type { WireAnswer } from './send-request.ts';

/** The error for an answer whose status is no success. */
export const unsuccessful = (
  call: Call<unknown>,
  answer: WireAnswer,
  reading: ResponseReading,
): HostingError => {
  const words = excerpt(answer, reading.redact);
  // An error of this kind may be the proxy's own.
  const via = answer.status >= 500 || [403, 407].includes(answer.status) ? reading.wire.via : '';
  const advice = adviceOn(answer.status, call, reading);
  return new HostingError(
    `the service answered ${answer.status}${via}${advice}${apexAdvice(call, words)}${words && `: ${words}`}`,
    {
      operation: call.operation,
      kind: kindOfStatus(answer.status, call),
      status: answer.status,
      retryAfter: readRetryAfter(answer.headers['retry-after'], reading.wire.now()),
    },
  );
};

/** A service may want a name for the subdomain itself, and says so in words of its own. */
export const apexAdvice = ({ operation, parameters }: Call<unknown>, words: string): string =>
  operation === 'add-dns-template-record' && parameters?.['name'] == null && /\bname\b/i.test(words)
    ? ' (if the subdomain itself needs a name, see apexName)'
    : '';

const adviceOn = (
  status: number,
  call: Call<unknown>,
  { wire: { origin, basePath, proven }, tokens }: ResponseReading,
): string => {
  if (status >= 300 && status < 400) return isMoved;
  const places = tokens.places ? ` (${tokens.places})` : '';
  const unread = mayBeUnread(status, call, proven) ? unreadParameters(call) : '';
  if (status === 401) return `: it rejects the tokens${places}${unread}`;
  if (status === 403 && !isWrite(call)) return `: these tokens may not do this${places}`;
  if (status === 429) return ': too many requests';
  if (status >= 500) return ', an error of its own';
  // Every service has this path.
  if (status === 404 && fixedPlaces.has(call.operation))
    return `: there is nothing at ${origin}${basePath}${call.path}, so the base URL is probably wrong, or the service answers so to wrong tokens${places}`;
  if (status === 404 && call.operation === 'list-dns-records')
    return `: there is no subdomain ${call.parameters?.['subdomain']}`;
  return unread;
};

const fixedPlaces: ReadonlySet<Operation> = new Set(['list-accounts', 'list-dns-templates']);

const isMoved = ', a redirect, which is not followed: check the base URL';

/** A service that looks for the parameters elsewhere finds no tokens. */
const mayBeUnread = (
  status: number,
  call: Call<unknown>,
  proven: ResponseReading['wire']['proven'],
): boolean =>
  isWrite(call)
    ? proven.GET && !proven.PUT && [400, 401, 403, 415].includes(status)
    : !proven.GET && [400, 401, 415, 422].includes(status);

const unreadParameters = (call: Call<unknown>): string =>
  isWrite(call)
    ? ', and these tokens just worked for reading: see putParameters'
    : ', or does not find them: see getParameters (doctor tries each form)';

const kindOfStatus = (status: number, call: Call<unknown>): HostingErrorKind => {
  if (status === 401 || (status === 403 && !isWrite(call))) return 'unauthorized';
  if (status === 429) return 'rate-limited';
  return isWrite(call) && refusals.has(status) ? 'refused' : lostKind(call);
};

const refusals = new Set([400, 403, 404, 409, 422]);
