import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fewAtATime } from '../../../src/daemon/http/request-limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('long answers', () => {
  it('start a few at a time, in the order of the requests', async () => {
    const waitForSlot = fewAtATime({ max: 2, breakMs: 5 });
    const begun: number[] = [];
    const ask = async (number: number): Promise<void> => {
      await waitForSlot();
      begun.push(number);
    };
    const asked = [1, 2, 3, 4, 5].map(ask);
    await vi.advanceTimersByTimeAsync(4);
    expect(begun).toEqual([1, 2]);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toEqual([1, 2, 3, 4]);
    asked.push(ask(6));
    await vi.advanceTimersByTimeAsync(5);
    await Promise.all(asked);
    expect(begun).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('start at once if there are few, and leave no timer behind', async () => {
    const waitForSlot = fewAtATime({ max: 2, breakMs: 5 });
    await Promise.all([waitForSlot(), waitForSlot()]);
    await vi.advanceTimersByTimeAsync(5);
    await waitForSlot();
    await vi.advanceTimersByTimeAsync(5);
    expect(vi.getTimerCount()).toBe(0);
    await waitForSlot();
  });
});
