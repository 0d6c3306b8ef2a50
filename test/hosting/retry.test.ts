import { afterEach, expect, test, vi } from 'vitest';
import { HostingError, type HostingErrorKind } from '../../src/hosting/errors.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { mayRepeatRead, mayRepeatWrite, withRetries } from '../../src/hosting/retry.ts';

afterEach(() => void vi.restoreAllMocks());

const error = (kind: HostingErrorKind, status: number | null = null, retryAfter: number | null = null) =>
  new HostingError('failed', { operation: 'list-accounts', kind, status, retryAfter });

/** How often something that always fails so is tried. */
const attempts = async (
  failure: Error,
  { maxBackoff = Infinity, signal = new AbortController().signal } = {},
): Promise<number> => {
  let tried = 0;
  const attempt = async (): Promise<never> => {
    tried += 1;
    throw failure;
  };
  const policy = { clock: systemClock, mayRepeat: mayRepeatRead, maxBackoff: () => maxBackoff, signal };
  await expect(withRetries(attempt, policy)).rejects.toBe(failure);
  return tried;
};

test('there are three attempts in all', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  expect(await attempts(error('unavailable'))).toBe(3);
});

test.each([
  { maxBackoff: 399, expected: 1 },
  { maxBackoff: 799, expected: 2 },
])('backoffs grow to 400 and 800 ms: within $maxBackoff ms, $expected', async ({ maxBackoff, expected }) => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  expect(await attempts(error('unavailable'), { maxBackoff })).toBe(expected);
});

test('a backoff is a random part of that', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.01);
  expect(await attempts(error('unavailable'), { maxBackoff: 8 })).toBe(3);
});

test('a backoff is as long as the service asks for', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  expect(await attempts(error('rate-limited', 429, 50), { maxBackoff: 49 })).toBe(1);
  expect(await attempts(error('rate-limited', 429, 50), { maxBackoff: 50 })).toBe(3);
});

test('an abort ends the backoff, and nothing is retried', async () => {
  const stop = new AbortController();
  const tried = attempts(error('rate-limited', 429, 3_600_000), { signal: stop.signal });
  stop.abort();
  expect(await tried).toBe(1);
});

test('a bug is not retried', async () => {
  expect(await attempts(new TypeError('no'))).toBe(1);
});

test.each<[HostingErrorKind, number | null, boolean, boolean]>([
  ['not-sent', null, true, true],
  ['rate-limited', 429, true, false],
  ['unavailable', null, true, false],
  ['unavailable', 408, true, false],
  ['unavailable', 500, true, false],
  ['unavailable', 404, false, false],
  ['unavailable', 302, false, false],
  ['unauthorized', 401, false, false],
  ['refused', 422, false, false],
  ['bad-answer', 200, false, false],
  ['unknown', null, false, false],
  ['unknown', 503, false, false],
])('%s %s: a read may be repeated: %s, a write: %s', (kind, status, read, write) => {
  expect(mayRepeatRead(error(kind, status))).toBe(read);
  expect(mayRepeatWrite(error(kind, status))).toBe(write);
});
