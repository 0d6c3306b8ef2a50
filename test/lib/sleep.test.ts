import { expect, it } from 'vitest';
import { sleep } from '../../src/lib/sleep.ts';

it('returns whether it slept the full time', async () => {
  expect(await sleep(1)).toBe(true);
});

it('ends when it is aborted, or does not start, and returns that', async () => {
  const stop = new AbortController();
  const sleeping = sleep(600_000, stop.signal);
  stop.abort();
  expect(await sleeping).toBe(false);
  expect(await sleep(600_000, stop.signal)).toBe(false);
});
