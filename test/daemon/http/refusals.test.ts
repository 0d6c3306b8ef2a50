import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { refusalLog, type PageRefusal } from '../../../src/daemon/http/refusals.ts';
import { listeningLogger } from '../listening-logger.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('refusals are logged at once, and those of a burst with the next one after it', () => {
  const { log, lines } = listeningLogger();
  const say = refusalLog(log);
  const refusal: PageRefusal = { token: 'trigger', reason: 'wrong', address: '192.0.2.1' };
  for (let count = 0; count < 1_000; count += 1) say(refusal);
  expect(lines).toMatchObject([{ event: 'request.refused', ...refusal, requests: 1 }]);
  vi.advanceTimersByTime(10_000);
  say({ ...refusal, address: '192.0.2.2' });
  expect(lines[1]).toMatchObject({ address: '192.0.2.2', requests: 1_000 });
});
