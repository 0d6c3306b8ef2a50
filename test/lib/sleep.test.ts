import { expect, it } from 'vitest';
import { sleep } from '../../src/lib/sleep.ts';

it('tells that it slept to its end', async () => {
  expect(await sleep(1)).toBe(true);
});

it('ends when it is aborted, or does not begin, and says so', async () => {
  const stop = new AbortController();
  const sleeping = sleep(600_000, stop.signal);
  stop.abort();
  expect(await sleeping).toBe(false);
  expect(await sleep(600_000, stop.signal)).toBe(false);
});
