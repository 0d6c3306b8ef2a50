import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { fewInATurn } from '../../src/daemon/turns.ts';

describe('long answers', () => {
  it('begin a few in each turn of the event loop, in the order in which they were asked for', async () => {
    const turn = fewInATurn(2);
    const begun: number[] = [];
    const ask = async (number: number): Promise<void> => {
      await turn();
      begun.push(number);
    };
    const asked = [1, 2, 3, 4, 5].map(ask);
    expect(begun).toEqual([]);
    await nextTurn();
    expect(begun).toEqual([1, 2]);
    await nextTurn();
    expect(begun).toEqual([1, 2, 3, 4]);
    asked.push(ask(6));
    await Promise.all(asked);
    expect(begun).toEqual([1, 2, 3, 4, 5, 6]);
    await ask(7);
    expect(begun.at(-1)).toBe(7);
  });
});
